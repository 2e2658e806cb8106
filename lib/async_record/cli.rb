# frozen_string_literal: true

# Owns the `fastr db` command line as plain Ruby: arguments in, lines and an exit code out. Errors of the user are one
# line without a backtrace. Refuses to boot an application: its caller does, when it is asked to. What the commands do
# is in cli/commands.rb.

require "fileutils"
require "optparse"
require_relative "migrator"
require_relative "schema_dump"
require_relative "administration"
require_relative "cli/target"
require_relative "cli/generator"
require_relative "cli/commands"

module AsyncRecord
  # The database commands.
  #
  # @example
  #   exit AsyncRecord::CLI.run(["migrate"])
  class CLI
    # Names and what they do.
    COMMANDS = {
      "create" => "make the database",
      "drop" => "remove the database",
      "migrate" => "run the migrations that have not run yet, or go to VERSION",
      "rollback" => "undo the last migration, or -n of them",
      "redo" => "undo and run again",
      "status" => "say which migrations have run",
      "version" => "say the last version that ran",
      "check" => "say whether files, database and schema file fit together",
      "dump" => "write db/schema.sql",
      "load" => "make the tables of db/schema.sql in an empty database",
      "seed" => "run db/seeds.rb",
      "reset" => "drop, create, migrate, seed",
      "setup" => "create, load or migrate, seed",
      "new" => "write a migration: new add_slug_to_posts slug:string:uniq"
    }.freeze
    # How many arguments a command takes.
    ARGUMENTS = Hash.new(0).merge("migrate" => 1, "new" => 100).freeze
    PRODUCTION = %w[FASTR_ENV APP_ENV RACK_ENV RAILS_ENV].freeze
    HELP = <<~TEXT
      fastr db COMMAND [options]

        -c, --config FILE      an application's file that says AsyncRecord.connect (app.rb is found by itself)
        -n, --step N           how many, for rollback and redo
            --to VERSION       for migrate
            --sql              print the SQL, change nothing
            --database NAME    another database of the application, or a URL
            --folder PATH      where its migrations are (db/migrate, db/NAME_migrate)
            --schema PATH      its schema file (db/schema.sql, db/NAME_schema.sql)
            --wait SECONDS     for another process that migrates (600)
            --force            in production, for what may destroy data
    TEXT
    # The codes with which PostgreSQL and MySQL refuse a database that they do not have.
    ABSENT = %w[3D000 1049].freeze
    private_constant :ARGUMENTS, :PRODUCTION, :HELP, :ABSENT

    include Commands

    # @param arguments [Array<String>] such as ["rollback", "-n", "2"]
    # @param out [#puts]
    # @param err [#puts]
    # @param root [String] the application's folder
    # @param env [#[]]
    # @param boot [#call, nil] gets the command and the file of `-c` (or nil) before the database is needed
    # @return [Integer] the exit code: 0, 1 for a failure, 2 for a wrong command
    def self.run(arguments, out: $stdout, err: $stderr, root: Dir.pwd, env: ENV, boot: nil)
      new(out: out, err: err, root: root, env: env, boot: boot).run(arguments)
    end

    # Options as for {run}.
    # @api private
    def initialize(out:, err:, root:, env:, boot: nil)
      @out = out
      @err = err
      @root = root
      @env = env
      @boot = boot
      @options = { steps: env["STEP"] || 1, sql: false, force: false, target: env["VERSION"] }
    end

    # @return [Integer] the exit code
    def run(arguments)
      command, *rest = parser.parse(arguments)
      return help if command.nil? || command == "help"
      return unknown(command) unless COMMANDS.key?(command)
      raise Error, "#{command} takes no #{rest[ARGUMENTS[command]].inspect}" if rest.size > ARGUMENTS[command]

      @command = command
      public_send(command, *rest)
      0
    rescue Error, OptionParser::ParseError, SystemCallError => error
      @err.puts("fastr db: #{error.message}#{"; to make it: fastr db create" if absent?(error)}")
      1
    rescue NameError, ArgumentError, TypeError, ScriptError => error
      @err.puts("fastr db: #{mistake(error)}")
      1
    ensure
      @target&.give_back
    end

    private

    # Whether a server says that it has no such database.
    def absent?(error)
      error.is_a?(ConnectionError) && ABSENT.include?(error.code.to_s) && @command != "create"
    end

    # A mistake in a file of the application: its place, and Ruby's own suggestion.
    def mistake(error)
      return error.message.strip if error.is_a?(SyntaxError)

      first, *rest = text_of(error).lines.map(&:strip)
      frame = error.backtrace.to_a.find { |line| line.start_with?("#{@root}/") }
      raise error if frame.nil?

      place = frame.delete_prefix("#{@root}/")[/\A[^:]+:\d+/]
      [place, ": ", [first, *rest.grep(/\ADid you mean/)].join(" ")].join
    end

    # Since Ruby 3.2 the suggestion is part of the detailed message only, which ends its first line with the class.
    def text_of(error)
      return error.message unless error.respond_to?(:detailed_message)

      error.detailed_message(highlight: false).sub(" (#{error.class})", "")
    end

    def parser
      OptionParser.new do |options|
        options.on("-n", "--step N", "--steps N", Integer) { |number| @options[:steps] = number }
        options.on("--to VERSION") { |version| @options[:target] = version }
        options.on("--wait SECONDS", Float) { |seconds| @options[:wait] = seconds }
        options.on("--[no-]sql") { |sql| @options[:sql] = sql }
        options.on("--[no-]force") { |force| @options[:force] = force }
        options.on("-c", "--config FILE") { |file| @options[:config] = file }
        %i[database folder schema].each do |name|
          options.on("--#{name} VALUE") { |value| @options[name] = value }
        end
      end
    end

    def help
      @out.puts(HELP, "")
      COMMANDS.each { |name, text| @out.puts("  #{name.ljust(10)} #{text}") }
      0
    end

    def unknown(command)
      near = DidYouMean::SpellChecker.new(dictionary: COMMANDS.keys).correct(command).first if defined?(DidYouMean)
      @err.puts("fastr db: there is no command #{command}#{"; did you mean #{near}?" if near}")
      2
    end

    # What was asked for, else what the application set, else the environment.
    def database
      boot
      target.database
    end

    # The application says where the database is.
    def boot
      return if @booted

      @booted = true
      Context.with(:fastr_db, true) do
        if @boot then @boot.call(@command, @options[:config])
        elsif @options[:config] then Kernel.load(File.expand_path(@options[:config], @root))
        end
      end
    end

    def target
      @target ||= Target.new(@options[:database], root: @root, env: @env, **@options.slice(:folder, :schema))
    end

    def production?
      PRODUCTION.filter_map { |key| @env[key] }.first == "production"
    end

    def refuse_production(what)
      return if !production? || @options[:force] || @options[:sql]

      raise Error, "#{what} the production database; say --force if that is what you want"
    end
  end
end
