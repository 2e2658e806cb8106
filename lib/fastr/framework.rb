# frozen_string_literal: true

# The web framework's parts, loaded in the order they build on each other. It owns that list; the reactor side
# (native library, dispatcher, completions) is loaded by `fastr.rb` before it.
require_relative "environment"
require_relative "log"
require_relative "settings"
require_relative "location"
require_relative "suggestion"
require_relative "inflector"
require_relative "safe_string"
require_relative "nested_params"
require_relative "upload"
require_relative "params"
require_relative "body"
require_relative "response"
require_relative "stream"
require_relative "body_writer"
require_relative "rack_input"
require_relative "request"
require_relative "rack_request"
require_relative "error_log"
require_relative "error_page"
require_relative "error_response"
require_relative "pattern"
require_relative "route"
require_relative "path_helpers"
require_relative "mount"
require_relative "router"
require_relative "deferred_response"
require_relative "async"
require_relative "cookies"
require_relative "filters"
require_relative "rendering"
require_relative "actions"
require_relative "controller"
require_relative "endpoint"
require_relative "endpoint_table"
require_relative "rack_host"
require_relative "boot_failure"
require_relative "plugin"
require_relative "words"
require_relative "serving"
require_relative "application"

module Fastr # rubocop:disable Style/Documentation -- the comment is at the top of the file
  # Loaded when first needed, so that a small program starts fast.
  autoload :AppFile, "#{__dir__}/app_file"
  autoload :CLI, "#{__dir__}/cli"
  autoload :CommandLine, "#{__dir__}/command_line"
  autoload :DatabaseFile, "#{__dir__}/database_file"
  autoload :Generator, "#{__dir__}/generator"
  autoload :Loader, "#{__dir__}/loader"
  autoload :Reloader, "#{__dir__}/reloader"
  autoload :RouteListing, "#{__dir__}/route_listing"
  autoload :ServerConfig, "#{__dir__}/server_config"
  autoload :StaticFiles, "#{__dir__}/static_files"
  autoload :Template, "#{__dir__}/template"
  autoload :TemplateStore, "#{__dir__}/template_store"
  autoload :Test, "#{__dir__}/test"
  autoload :TopLevel, "#{__dir__}/top_level"

  class << self
    # Makes an application of blocks.
    # @yield routes and settings, evaluated in the application
    # @return [Application]
    # @example
    #   app = Fastr.app { get("/") { "Hello" } }
    #   Fastr.run(app, port: 3000)
    def app(&definition)
      Application.new(&definition)
    end

    # @return [Application] the one the words at the top level of a program fill
    def application
      @application ||= Application.new
    end

    # @param app [Application, nil]
    attr_writer :application
  end
end
