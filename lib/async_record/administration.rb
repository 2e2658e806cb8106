# frozen_string_literal: true

# Owns the making and removing of whole databases: SQLite's file, a server's database by a connection to its own one.
# Refuses to ask whether that is wise: the command line does.

require "fileutils"
require "uri"

module AsyncRecord
  # Creates and drops a database.
  #
  # @example
  #   AsyncRecord::Administration.new(AsyncRecord.database).create
  class Administration
    # The database a server always has.
    MAINTENANCE = { postgresql: "postgres", mysql: "information_schema" }.freeze
    private_constant :MAINTENANCE

    # @param database [Database]
    def initialize(database)
      @database = database
    end

    # @return [String] what was done, as a line
    def create
      return create_file if sqlite?

      return "#{name} exists" if exists?

      server { |own| own.script(create_sql) }
      "#{name} created"
    end

    # @return [String] what was done, as a line
    def drop
      @database.close
      return drop_file if sqlite?
      return "#{name} does not exist" unless exists?

      server { |own| own.script("DROP DATABASE #{own.dialect.quote(name)}") }
      "#{name} removed"
    end

    # @return [Array<String>] what {#create} or {#drop} would run on a server
    def sql(action)
      return ["-- #{path || 'a database in memory'}: a file, no SQL"] if sqlite?

      [action == :create ? create_sql : "DROP DATABASE #{@database.dialect.quote(name)}"]
    end

    # @return [String] the database's name, or its file
    def name
      return path || ":memory:" if sqlite?

      decoded = URI.decode_www_form_component(uri.path.to_s.delete_prefix("/"))
      raise ConfigurationError, "#{@database.inspect} names no database: end the URL in /NAME" if decoded.empty?

      decoded
    end

    private

    def sqlite?
      @database.dialect.name == :sqlite
    end

    def path
      @database.path
    end

    def create_file
      return "#{@database.url} keeps nothing on disk" unless path

      FileUtils.mkdir_p(File.dirname(path))
      existed = File.exist?(path)
      @database.query("SELECT 1")
      "#{path} #{existed ? 'exists' : 'created'}"
    end

    def drop_file
      return "#{@database.url} keeps nothing on disk" unless path

      files = ["", "-wal", "-shm", "-journal"].map { |suffix| "#{path}#{suffix}" }.select { |file| File.exist?(file) }
      FileUtils.rm(files)
      "#{path} #{files.empty? ? 'does not exist' : 'removed'}"
    end

    def create_sql
      quoted = @database.dialect.quote(name)
      @database.dialect.name == :mysql ? "CREATE DATABASE #{quoted} CHARACTER SET utf8mb4" : "CREATE DATABASE #{quoted}"
    end

    def exists?
      sql = if @database.dialect.name == :mysql
              "SELECT 1 AS one FROM information_schema.schemata WHERE schema_name = ?"
            else
              "SELECT 1 AS one FROM pg_database WHERE datname = ?"
            end
      server { |own| own.query(sql, name).any? }
    end

    def uri
      URI.parse(@database.url)
    end

    # CREATE DATABASE needs a connection to another one.
    def server
      own = @database.twin(url: uri.dup.tap { |one| one.path = "/#{MAINTENANCE.fetch(@database.dialect.name)}" }.to_s,
                           size: 1)
      yield own
    ensure
      own&.close
    end
  end
end
