# frozen_string_literal: true

require "thor"

module Fastr
  # The commands of `fastr`. It owns their options and words; a mistake of the user is one line and exit code 1. Making
  # files is {Generator}'s work, finding the application {AppFile}'s, serving `Fastr.run`'s.
  class CLI < Thor
    # Mistakes of the user: told in one line, without a backtrace.
    USER_ERRORS = [Fastr::Error, Errno::ENOENT, Errno::EACCES].freeze
    private_constant :USER_ERRORS

    # Short names.
    map "s" => :server, "c" => :console, "g" => :generate, "r" => :routes, %w[-v --version] => :version

    class << self
      # @return [true] a wrong command line ends with 1
      def exit_on_failure?
        true
      end

      # Runs a command line.
      # @param arguments [Array<String>]
      # @return [void]
      def start(arguments = ARGV, config = {})
        arguments = ["help"] if arguments.empty?
        super
      rescue *USER_ERRORS => e
        warn(e.message)
        exit(1)
      end
    end

    desc "init NAME", "make an application in the layout of 2010"
    # Makes an application in the layout of 2010.
    def init(name)
      Generator.new(out: $stdout).init(name)
    end

    desc "new NAME", "make an application"
    # Makes an application.
    def new(name)
      Generator.new(out: $stdout).application(name)
    end

    desc "generate KIND NAME [ACTION ...]", "make a controller with its actions, views and test"
    # Makes a controller.
    def generate(kind, name, *actions)
      Generator.new(out: $stdout).generate(kind, name, actions)
    end

    desc "server [FILE]", "serve config.ru, app.rb or the application in this folder"
    method_option :port, aliases: "-p", type: :numeric, desc: "the port (PORT, or 3000)"
    method_option :address, aliases: %w[-a -b --bind --host], desc: "the address (BINDING, or 127.0.0.1 in development)"
    method_option :environment, aliases: "-e", desc: "development, production or test"
    method_option :config, aliases: "-c", desc: "a file with options of the server, one a line"
    method_option :reload, type: :boolean, desc: "load changed files again (default: in development)"
    # Serves an application until it is told to stop.
    def server(file = nil)
      $stdout.sync = true
      configured = options[:config] ? ServerConfig.read(options[:config]) : {}
      environment = options[:environment] || configured[:environment]
      Fastr.environment = environment if environment
      app = AppFile.load(file)
      app.settings.reload = options[:reload] if app.is_a?(Application) && !options[:reload].nil?
      Fastr.run(app, **server_options(app, configured))
    end

    desc "routes [FILE]", "list the routes"
    method_option :grep, aliases: "-g", desc: "only lines that match this regular expression"
    method_option :controller, aliases: "-c", desc: "only routes of this controller"
    method_option :json, type: :boolean, desc: "as JSON"
    # Lists the routes.
    def routes(file = nil)
      quiet
      listing = RouteListing.new(AppFile.load_application(file).router.routes)
      puts listing.to_s(grep: options[:grep], controller: options[:controller], json: options[:json])
    end

    desc "console [FILE]", "irb with the application loaded; queries wait for their result"
    # Starts irb.
    def console(file = nil)
      app = AppFile.load_application(file)
      require "irb"
      TOPLEVEL_BINDING.local_variable_set(:app, app)
      ARGV.clear
      TOPLEVEL_BINDING.irb
    end

    desc "db COMMAND", "create, migrate, rollback, dump, seed … (fastr db help)"
    # Runs a command of AsyncRecord.
    def db(*arguments)
      require "async_record"
      require "async_record/cli"
      quiet
      AsyncRecord.slow = nil # changes of a schema take their time, and each says how long
      code = AsyncRecord::CLI.run(arguments, boot: DatabaseFile.method(:load))
      exit(code) unless code.zero?
    end

    desc "version", "print the version"
    # Prints the version.
    def version
      puts "fastr #{VERSION} (ruby #{RUBY_VERSION})"
    end

    # `fastr db rollback --step 2`: the options are the database command's.
    stop_on_unknown_option! :db
    check_unknown_options! except: :db

    no_commands do
      private

      # What is printed is for other programs too: the log goes to standard error.
      def quiet
        Log.level = :warn
        Log.device = $stderr
      end

      # The command line wins over the file, the file over settings.rb.
      def server_options(app, configured)
        own = app.is_a?(Application) ? app.settings.server : {}
        given = { port: options[:port], host: options[:address] }.compact
        own.merge(configured, given).except(:environment)
      end
    end
  end
end
