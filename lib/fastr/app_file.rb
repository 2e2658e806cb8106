# frozen_string_literal: true

module Fastr
  # Finds and loads the application of a folder: a config.ru, a single file, or a folder with app/config/routes.rb.
  # It owns that search and the text of what is wrong with such a file; it starts nothing.
  module AppFile
    # The files tried, in order.
    DEFAULTS = %w[config.ru app.rb].freeze
    # What an application's folder has.
    ROUTES = "app/config/routes.rb"

    module_function

    # @param file [String, nil] the file named by the user
    # @return [#call] a {Application} or another Rack application
    # @raise [BootError, ConfigurationError]
    def load(file = nil)
      file ||= DEFAULTS.find { |name| File.file?(name) }
      return folder if file.nil?
      raise ConfigurationError, "there is no #{file} here (#{Dir.pwd})" unless File.file?(file)

      file.end_with?(".ru") ? rackup(file) : single_file(file)
    rescue ScriptError, StandardError => e
      raise e if e.is_a?(Error)

      raise BootFailure.of(e, file && File.expand_path(file))
    end

    # @param file [String, nil]
    # @return [Application]
    # @raise [ConfigurationError] when the file is about another Rack application
    def load_application(file = nil)
      app = load(file)
      return app if app.is_a?(Application)
      return Application.latest if Application.latest

      raise ConfigurationError, "this is not a Fastr application but a #{app.class}"
    end

    # Loads a single-file application. Ruby's own suggestions do not know which words are ours.
    # @param path [String]
    # @raise [BootError]
    # @return [void]
    def load_file(path)
      Kernel.load(path)
    rescue NameError => e
      raise BootFailure.of(unknown_word(e) || e, path)
    rescue *BootFailure::ERRORS => e
      raise BootFailure.of(e, path)
    end

    # Evaluates init.rb alone, which says where the database is.
    # @return [void]
    def load_init
      file = "#{Dir.pwd}/#{Application::INIT_FILE}"
      return unless File.file?(file)

      app = Application.allocate
      app.app_path = Dir.pwd
      app.plugins = []
      app.settings = Settings.new(app)
      app.evaluate(file)
    end

    # Programs of 2010 expect EventMachine to be there, as it was under thin.
    def rackup(file)
      require "fastr/eventmachine"
      require "rack"
      app, = Rack::Builder.parse_file(File.expand_path(file))
      application_in(app)
    end

    # `run App` and `run App.new` are served natively.
    def application_in(app)
      app.is_a?(Class) && app <= Application ? app.shared : app
    end

    def single_file(file)
      TopLevel.install
      load_file(File.expand_path(file))
      return Fastr.application.tap { |app| app.source_file = File.expand_path(file) } if TopLevel.used?

      own = Application.subclasses.reject { |klass| klass.name.nil? || klass.name.start_with?("Fastr::") }
      return own.first.shared if own.size == 1

      raise ConfigurationError, "#{file} defines no route and #{own.empty? ? 'no' : 'more than one'} application class"
    end

    def unknown_word(error)
      return unless error.receiver.equal?(TOPLEVEL_BINDING.receiver)

      nearest = Suggestion.for(error.name, TopLevel.words)
      return if nearest.empty?

      RouteError.new("there is no word `#{error.name}' here.#{nearest}").tap { |e| e.set_backtrace(error.backtrace) }
    rescue ArgumentError # the error has no receiver
      nil
    end

    def folder
      return Application.new(Dir.pwd) if File.file?(ROUTES)

      raise ConfigurationError, "there is no application here: no #{DEFAULTS.join(', no ')} and no #{ROUTES} " \
                                "(#{Dir.pwd}). Make one with: fastr new NAME"
    end

    private_class_method :rackup, :application_in, :single_file, :unknown_word, :folder
  end
  private_constant :AppFile
end
