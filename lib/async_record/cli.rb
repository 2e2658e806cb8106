# frozen_string_literal: true

# Owns the `fastr db` commands as plain Ruby: arguments in, lines and an exit code out. Errors of the user are one line
# without a backtrace. Refuses to parse the rest of the command line and to boot an application: its caller does.

require "fileutils"
require "optparse"
require_relative "migrator"

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
      "migrate" => "run the migrations that have not run yet",
      "rollback" => "undo the last migration, or STEP of them",
      "status" => "say which migrations have run",
      "seed" => "run db/seeds.rb",
      "reset" => "drop, create, migrate, seed",
      "version" => "say the last version that ran",
      "new" => "write a migration: new add_slug_to_posts"
    }.freeze
    PRODUCTION = %w[FASTR_ENV APP_ENV RACK_ENV].freeze
    MIGRATION = <<~RUBY
      # frozen_string_literal: true

      class %<name>s < AsyncRecord::Migration
        def change
        end
      end
    RUBY
    private_constant :PRODUCTION, :MIGRATION

    # @param arguments [Array<String>] such as ["rollback", "--step", "2"]
    # @param out [#puts]
    # @param err [#puts]
    # @param root [String] the application's folder
    # @param env [#[]]
    # @return [Integer] the exit code: 0, 1 for a failure, 2 for a wrong command
    def self.run(arguments, out: $stdout, err: $stderr, root: Dir.pwd, env: ENV)
      new(out: out, err: err, root: root, env: env).run(arguments)
    end

    def initialize(out: $stdout, err: $stderr, root: Dir.pwd, env: ENV)
      @out = out
      @err = err
      @root = root
      @env = env
      @options = { steps: env["STEP"] || 1, sql: false, force: false, database: nil, folder: "db/migrate",
                   target: env["VERSION"] }
    end

    # @return [Integer] the exit code
    def run(arguments)
      command, *rest = parser.parse(arguments)
      return help if command.nil? || command == "help"
      return unknown(command) unless COMMANDS.key?(command)
      raise Error, "#{command} takes no #{rest.first.inspect}" if rest.size > (command == "new" ? 1 : 0)

      public_send(command, *rest)
      0
    rescue Error, OptionParser::ParseError, SystemCallError => error
      @err.puts("fastr db: #{error.message}")
      1
    rescue NameError, ArgumentError, TypeError, ScriptError => error
      @err.puts("fastr db: #{mistake(error)}")
      1
    end

    # Makes the database; for SQLite the folder and the file.
    def create
      path = sqlite_path
      return @out.puts("#{database.url} keeps nothing on disk") if path == ":memory:"

      FileUtils.mkdir_p(File.dirname(path))
      existed = File.exist?(path)
      database.query("SELECT 1")
      @out.puts("#{path} #{existed ? 'exists' : 'created'}")
    end

    # Removes the database.
    def drop
      refuse_production
      database.close
      path = sqlite_path
      files = [path, "#{path}-wal", "#{path}-shm"].select { |file| File.exist?(file) }
      FileUtils.rm(files)
      @out.puts("#{path} #{files.empty? ? 'does not exist' : 'removed'}")
    end

    # Runs what has not run yet.
    def migrate
      count = migrator.migrate(@options[:target])
      @out.puts("nothing to migrate") if count.zero? && !@options[:sql]
    end

    # Undoes the last migrations.
    def rollback
      steps = Integer(@options[:steps], exception: false)
      raise Error, "STEP is a number above 0, not #{@options[:steps].inspect}" unless steps&.positive?

      count = migrator.rollback(steps)
      @out.puts("nothing to roll back") if count.zero?
    end

    # Prints which migrations have run.
    def status
      lines = migrator.status
      return @out.puts("there are no migrations in #{@options[:folder]}") if lines.empty?

      lines.each { |line| @out.puts("#{line.state.to_s.ljust(8)} #{line.version}  #{line.name}") }
    end

    # Prints the last version.
    def version
      @out.puts(migrator.version || "no migration has run")
    end

    # Runs db/seeds.rb.
    def seed
      path = File.join(@root, "db/seeds.rb")
      return @out.puts("there is no db/seeds.rb") unless File.exist?(path)

      use_database
      load(path)
      @out.puts("db/seeds.rb done")
    end

    # Starts over.
    def reset
      refuse_production
      drop
      create
      migrate
      seed
    end

    # Writes an empty migration.
    def new(name = nil)
      raise Error, "say a name: fastr db new add_slug_to_posts" if name.to_s.empty?

      name = Inflector.underscore(name.tr("-", "_"))
      raise Error, "a migration's name has letters, digits and underscores, and begins with a letter" unless
        name.match?(/\A[a-z][a-z0-9_]*\z/)

      write_migration(name)
    end

    private

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

    def write_migration(name)
      folder = File.join(@root, @options[:folder])
      twin = Dir.glob(File.join(folder, "*_#{name}.rb")).first
      raise Error, "#{twin} exists already" if twin

      FileUtils.mkdir_p(folder)
      path = File.join(folder, "#{next_version(folder)}_#{name}.rb")
      File.write(path, format(MIGRATION, name: Inflector.camelize(name)), mode: "wx")
      @out.puts("create  #{path.delete_prefix("#{@root}/")}")
    end

    # Now, or one past the newest file when several are written within a second.
    def next_version(folder)
      newest = Dir.children(folder).map { |file| file[/\A\d+/].to_i }.max.to_i
      [Time.now.utc.strftime("%Y%m%d%H%M%S").to_i, newest + 1].max
    end

    def parser
      OptionParser.new do |options|
        options.on("--step N", Integer) { |number| @options[:steps] = number }
        options.on("--to VERSION") { |version| @options[:target] = version }
        options.on("--sql") { @options[:sql] = true }
        options.on("--force") { @options[:force] = true }
        options.on("--database URL") { |url| @options[:database] = url }
        options.on("--folder PATH") { |path| @options[:folder] = path }
      end
    end

    def help
      @out.puts("fastr db COMMAND [--step N] [--to VERSION] [--sql] [--database URL] [--force]", "")
      COMMANDS.each { |name, text| @out.puts("  #{name.ljust(10)} #{text}") }
      0
    end

    def unknown(command)
      near = DidYouMean::SpellChecker.new(dictionary: COMMANDS.keys).correct(command).first if defined?(DidYouMean)
      @err.puts("fastr db: there is no command #{command}#{"; did you mean #{near}?" if near}")
      2
    end

    def migrator
      Migrator.new(database, folder: File.join(@root, @options[:folder]), out: @out, sql: @options[:sql])
    end

    # What was asked for, else what the application set, else DATABASE_URL.
    def database
      @database ||= @options[:database] ? AsyncRecord.connect(rooted(@options[:database])) : configured
    end
    alias use_database database

    def configured
      Base.database
    rescue ConfigurationError
      url = @env["DATABASE_URL"]
      raise unless url

      AsyncRecord.connect(rooted(url))
    end

    # A relative SQLite path means the application's folder.
    def rooted(url)
      path = url[%r{\Asqlite3?:(?://)?(?!/)(.+)\z}, 1]
      return url if path.nil? || path.start_with?(":memory:", "/")

      "sqlite:#{File.expand_path(path, @root)}"
    end

    def sqlite_path
      unless database.dialect.name == :sqlite
        raise Error, "#{database.inspect}: create and drop work on SQLite; use the server's own tools for the others"
      end

      path = database.url.sub(%r{\Asqlite3?:(?://)?}, "").sub(/\?.*\z/, "")
      path.start_with?(":memory:") ? ":memory:" : File.expand_path(path, @root)
    end

    def refuse_production
      name = PRODUCTION.filter_map { |key| @env[key] }.first
      return if name != "production" || @options[:force]

      raise Error, "this would destroy the production database; say --force if that is what you want"
    end
  end
end
