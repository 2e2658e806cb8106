# frozen_string_literal: true

module Fastr
  # The settings of one application: what `config` is in `app/config/settings.rb`. It owns values and their
  # defaults; the files that set them are read by {Application}.
  #
  # @example app/config/settings.rb
  #   config.log_level = Logger::INFO
  #   config.cache_templates = true
  #   config.plugins << MyPlugin
  class Settings
    # @return [Boolean] whether a compiled template is kept (default true; in development a changed file is
    #   compiled again all the same)
    attr_accessor :cache_templates

    # @return [Boolean] whether changed files are loaded again while the server runs (default: in development)
    attr_accessor :reload

    # @return [Boolean] whether each request is logged (default: in development)
    attr_accessor :log_requests

    # @return [Boolean] whether each statement of AsyncRecord is logged (default: in development), unless the program
    #   has set `AsyncRecord.log` itself
    attr_accessor :log_queries

    # @return [String, nil] the layout around each template, a path under app/views/layouts (default none)
    attr_accessor :layout

    # @return [String, nil] the path of the health check, answered without Ruby (default "/up"; nil for none). A route
    #   of the application with this path comes first.
    attr_accessor :health_path

    # @return [Hash] options handed to `Fastr.run` (port:, host:, shutdown_timeout: …); the command line wins
    attr_reader :server

    # @param app [Application] the application these settings belong to
    def initialize(app)
      @app = app
      @cache_templates = true
      @reload = Fastr.development?
      @log_requests = Fastr.development?
      @log_queries = Fastr.development?
      @layout = nil
      @health_path = "/up"
      @server = {}
    end

    # @return [String] short: it is part of Ruby's own error messages
    def inspect
      "#<Fastr::Settings>"
    end

    # Sets the level of every logger of the process, as in 2010.
    # @param level [Integer, Symbol, String] `Logger::WARN`, `:warn` or `"warn"`
    def log_level=(level)
      Log.level = level
    end

    # @return [Integer] the level of every logger
    def log_level
      Log.level
    end

    # @return [Array<Module>] the plugins of the application, in the order they run
    def plugins
      @app.plugins
    end
  end
end
