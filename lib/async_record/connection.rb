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
      # What the URL says; everything else is an option of {Database}.
      PLACE = %i[host port user username password database connections].freeze
      private_constant :CONNECTIONS, :PLACE

      # @param options [Hash] `:host`, `:port`, `:user` (or `:username`), `:password`, `:database`, `:connections`;
      #   others are options of {Database}, such as `:pool_timeout`
      def initialize(options = {})
        size = options[:connections] || CONNECTIONS
        super(url_from(options), size: size, **options.except(*PLACE))
      end

      private

      def url_from(options)
        host = options[:host] || "127.0.0.1"
        host = "[#{host}]" if host.include?(":")
        port = options[:port] || default_port
        "#{protocol}://#{login(options)}#{host}:#{port}/#{escape(options[:database])}"
      end

      def login(options)
        parts = [options[:user] || options[:username], options[:password]].compact
        parts.empty? ? "" : "#{parts.map { |part| escape(part) }.join(':')}@"
      end

      # A plus sign is no space in these parts of a URL.
      def escape(part)
        URI.encode_www_form_component(part.to_s).gsub("+", "%20")
      end
    end
    private_constant :Server

    # A MySQL or MariaDB server.
    class MySQL < Server
      private

      def protocol
        "mysql"
      end

      def default_port
        3306
      end
    end

    # A PostgreSQL server.
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
