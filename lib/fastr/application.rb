# frozen_string_literal: true

module Fastr
  # One application: its folder or its blocks, its router, settings and plugins. It owns boot and the two ways in,
  # {#call} for the server (a native request) and {#dispatch} for Rack servers (an env); both end in the same
  # controllers. What a request runs is prepared by {EndpointTable}, files are loaded by {Loader}.
  #
  # @example config.ru, as in 2010
  #   app = Fastr::Application.new(__dir__)
  #   run lambda { |env| app.dispatch(env) }
  # @example a class
  #   class Hello < Fastr::Application
  #     get("/hello/:name") { |name| "Hello #{name}" }
  #   end
  #   Fastr.run(Hello.new)
  class Application
    include Log
    include Words
    extend ClassWords
    include Serving

    # The file that sets {Settings}, below the application's folder.
    SETTINGS_FILE = "app/config/settings.rb"
    # The file evaluated first.
    INIT_FILE = "app/config/init.rb"

    # @return [Router]
    attr_accessor :router
    # @return [String, nil] the application's folder; nil for one made of blocks
    attr_accessor :app_path
    # @return [Settings]
    attr_accessor :settings
    # @return [Array<Module>] the plugins, in the order their hooks run
    attr_accessor :plugins
    # @return [BootError, nil] what is wrong with the files, in development
    attr_reader :boot_error

    # @return [Application] the one instance a server uses for this class
    def self.shared
      @shared ||= new
    end

    # Serves a Rack env with {shared}, so that `run App` works.
    def self.call(env)
      shared.call(env)
    end

    class << self
      # @return [Application, nil] the one made last; `fastr routes` finds it behind a config.ru's lambda
      # @api private
      attr_accessor :latest
    end

    # Boots the application.
    # @param path [String, nil] the folder with app/, public/ and the rest
    # @yield routes and settings, in the words of the single-file application
    # @raise [BootError] when a file cannot be evaluated (in development the server stays up and shows it)
    def initialize(path = nil, &definition)
      @app_path = path && File.expand_path(path)
      @settings = Settings.new(self)
      @plugins = []
      @definition = definition
      @booting = true
      Application.latest = self
      boot
    end

    # @return [String] short: it is part of Ruby's own error messages
    def inspect
      "#<#{self.class}#{" #{@app_path}" if @app_path}>"
    end
    alias to_s inspect

    # Runs every plugin's `after_boot`.
    # @return [void]
    def plugin_after_boot
      plugins.each { |plugin| plugin.after_boot(self) if plugin.respond_to?(:after_boot) }
    end

    # Evaluates a file with the application as `self`.
    # @param file [String] an existing file
    # @raise [BootError] with file, line and the nearest known name
    def evaluate(file)
      instance_eval(File.read(file, encoding: Encoding::UTF_8), file, 1)
    rescue *BootFailure::ERRORS => e
      raise BootFailure.of(e, file)
    end

    # @return [Class] the controller class of the routes that are blocks
    def block_controller
      @block_controller ||= Class.new(Controller).tap do |klass|
        name = self.class.name || "Application"
        klass.define_singleton_method(:to_s) { name }
        klass.define_singleton_method(:path) { "" }
      end
    end

    # @return [TemplateStore]
    # @api private
    def templates
      @templates ||= TemplateStore.new("#{folder_of_files}/app/views", reload: settings.reload)
    end

    # @return [Array<String>] the files whose change matters in development
    # @api private
    def watched_files
      return [@source_file].compact unless app_path

      @loader.files + configuration_files.select { |file| File.file?(file) }
    end

    # The one file this application is written in; in development it is loaded again when it changes.
    # @param file [String] its full path
    # @api private
    def source_file=(file)
      @source_file = file
      watch
    end

    # Loads again what changed; a mistake in it is shown until the next change.
    # @param changed [Array<String>]
    # @api private
    def files_changed(changed)
      log.info("Reloading: #{changed.map { |file| Location.shorten(file) }.join(', ')}")
      if @source_file
        reload_source
      elsif @boot_error || changed.intersect?([path_to(SETTINGS_FILE), path_to(INIT_FILE)])
        boot_again
      else
        @loader.reload(changed)
        reset_routes
      end
      @boot_error = nil
    rescue BootError => e
      failed_to_boot(e)
    end

    private

    # What `config` is in settings.rb.
    def config
      settings
    end

    def boot
      log.info("Loading application...") if app_path
      load_everything
      log_queries if settings.log_queries
      @booting = false
      watch
      plugin_after_boot unless @boot_error
      log.info("Application loaded successfully.") if app_path && !@boot_error
      self
    end

    # The application may do without AsyncRecord, of which the native library has a part in any case.
    def log_queries
      return unless defined?(::AsyncRecord) && ::AsyncRecord.respond_to?(:log=)

      ::AsyncRecord.log ||= Log.create_logger(Log.device, Log.level, "AsyncRecord")
    end

    def load_everything
      @loader ||= Loader.new(app_path, reloading: settings.reload) if app_path
      load_folder if app_path
      setup_router
    rescue BootError => e
      raise unless Fastr.development?

      failed_to_boot(e)
    end

    def load_folder
      [INIT_FILE, SETTINGS_FILE].each { |file| evaluate(path_to(file)) if File.file?(path_to(file)) }
      Plugin.load(self)
      @loader.load
    end

    # Initializes the router and loads the routes: the folder's file, the class's words, the block.
    def setup_router
      @router ||= Router.new(self)
      reset_routes
    end

    def reset_routes
      @block_controller = @not_found = nil
      router.load
      self.class.replay_words(self)
      instance_exec(&@definition) if @definition
      prepare_endpoints
    rescue RouteError => e
      raise BootFailure.of(e, router.route_file)
    end

    def reload_source
      reset_routes
      AppFile.load_file(@source_file)
      prepare_endpoints
    rescue RouteError => e
      raise BootFailure.of(e, @source_file)
    end

    def boot_again
      plugins.clear
      load_folder
      reset_routes
    end

    def failed_to_boot(error)
      @boot_error = error
      @router ||= Router.new(self)
      log.error(error.message)
    end

    def watch
      @reloader = Reloader.new(self) if settings.reload && (app_path || @source_file)
    end

    # Where app/views and public are: the application's folder, or that of its one file.
    def folder_of_files
      app_path || (@source_file ? File.dirname(@source_file) : Dir.pwd)
    end

    def path_to(file)
      "#{app_path}/#{file}"
    end

    def configuration_files
      [path_to(INIT_FILE), path_to(SETTINGS_FILE), router&.route_file].compact
    end
  end
end
