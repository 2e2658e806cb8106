# frozen_string_literal: true

# Owns the connections of 2010: databases described by options instead of a URL. Everything else is Database.

require_relative "database"

module AsyncRecord
  # The 2010 face of {Database}.
  #
  # @example
  #   connection = AsyncRecord::Connection::SQLite.new(:database => "db/app.db")
  #   connection.connect
  #   AsyncRecord::Base.set_connection(connection)
  module Connection
    # A SQLite file, or ":memory:".
    class SQLite < Database
      # @param options [Hash] `:database` the path; `:connections` how many may read at once
      def initialize(options)
        path = options.fetch(:database) { raise ConfigurationError, "give :database => \"path/to/file.db\"" }
        limits = options.reject { |key, _| %i[database connections].include?(key) }
        limits[:size] = options[:connections] if options[:connections]
        super("sqlite:#{path}", **limits)
      end
    end

    # What MySQL and PostgreSQL share: a host, a user, a database.
    class Server < Database
      CONNECTIONS = 4
      private_constant :CONNECTIONS

      # @param options [Hash] `:host`, `:port`, `:user`, `:password`, `:database`, `:connections`
      def initialize(options = {})
        size = options[:connections] || CONNECTIONS
        super(url_from(options), size: size)
      end

      private

      def url_from(options)
        login = options.values_at(:user, :password).compact.map { |part| URI.encode_www_form_component(part) }.join(":")
        host = options[:host] || "127.0.0.1"
        port = options[:port] || default_port
        "#{protocol}://#{"#{login}@" unless login.empty?}#{host}:#{port}/#{options[:database]}"
      end
    end
    private_constant :Server

    # A MySQL or MariaDB server; not supported yet, `connect` says so.
    class MySQL < Server
      private

      def protocol
        "mysql"
      end

      def default_port
        3306
      end
    end

    # A PostgreSQL server; not supported yet, `connect` says so.
    class PostgreSQL < Server
      private

      def protocol
        "postgres"
      end

      def default_port
        5432
      end
    end
  end
end
