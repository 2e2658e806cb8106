# frozen_string_literal: true

module Fastr
  # Plugins as in 2010: modules with the optional hooks `after_boot(app)`, `before_dispatch(app, env)` and
  # `after_dispatch(app, env, response)`; from `config.plugins <<` or custom/plugins/NAME/plugin.rb. It owns finding
  # them; {Application} calls the hooks, each with what the one before returned.
  module Plugin
    include Log

    # Where plugins are, below the application's folder.
    PLUGIN_PATH = "custom/plugins"

    # Loads every plugin of an application, in alphabetical order.
    # @param app [Application]
    # @return [void]
    def self.load(app)
      logger.debug("Loading plugins...")
      folder = "#{app.app_path}/#{PLUGIN_PATH}"
      return unless File.directory?(folder)

      Dir.children(folder).sort.each do |name|
        load_plugin(app, name, "#{folder}/#{name}") if File.file?("#{folder}/#{name}/plugin.rb")
      end
    end

    # Loads one plugin: plugin.rb, then its lib folder.
    # @param app [Application]
    # @param name [String] "my_test" for MyTestPlugin
    # @param dir [String]
    # @return [void]
    # @raise [BootError] when it cannot be loaded
    def self.load_plugin(app, name, dir)
      plugin_name = "#{Inflector.camelize(name)}Plugin"
      logger.debug("Loading plugin #{plugin_name}...")
      require "#{dir}/plugin.rb"
      Dir["#{dir}/lib/**/*.rb"].each { |file| require file }
      app.plugins << Object.const_get(plugin_name)
    rescue *BootFailure::ERRORS => e
      raise BootFailure.of(e, "#{dir}/plugin.rb")
    end
  end
end
