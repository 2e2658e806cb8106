# frozen_string_literal: true

# Owns one database: its URL, its dialect, its pool, its replicas and what is known of its tables. How statements run on
# it is in database/asking.rb, the only place that talks to the native driver. Refuses to build SQL.

require "uri"
require_relative "database/pooling"
require_relative "database/asking"
require_relative "database/streaming"
require_relative "database/replicas"
require_relative "server"

module AsyncRecord
  # One database and its connections.
  #
  # @example
  #   database = AsyncRecord::Database.new("sqlite:db/app.db", size: 4)
  #   database.query("select 1 as one")        # => [{ "one" => 1 }]
  class Database
    include Pooling
    include Asking
    include Streaming
    include Server

    SCHEMES = {
      "sqlite" => :sqlite, "sqlite3" => :sqlite, "postgres" => :postgresql, "postgresql" => :postgresql,
      "mysql" => :mysql, "mysql2" => :mysql, "mariadb" => :mysql
    }.freeze
    # Seconds without a statement after which the driver takes a transaction back, unless the options say otherwise.
    IDLE_IN_TRANSACTION = 30
    private_constant :SCHEMES, :IDLE_IN_TRANSACTION

    # @return [String]
    attr_reader :url
    # @return [Dialect]
    attr_reader :dialect
    # @return [Schema]
    attr_reader :schema
    # @return [Replicas, nil]
    # @api private
    attr_reader :replicas

    # @param url [String] "sqlite:db/app.db", "sqlite::memory:"
    # @param replicas [Array<String>] URLs of copies to read from, see {AsyncRecord.connect}
    # @param sticky [Numeric] seconds for which whoever wrote reads from the primary
    # @param options [Hash] passed to the driver: `size:`, `pool_timeout:`, …
    # @raise [ConfigurationError] for a URL that names no known database
    def initialize(url, replicas: [], sticky: Replicas::STICKY, **options)
      @dialect = Dialect.for(scheme(url.to_s))
      prepare_pool(url, options)
      @schema = Schema.new(self)
      @targets = {}
      @replicas = Replicas.new(replicas, sticky: sticky, **options) unless Array(replicas).empty?
      @simple = @replicas.nil?
    end

    # A word of 2010. Nothing happens yet: connections open when first needed.
    #
    # @return [self]
    def connect
      self
    end

    # Runs SQL and returns plain rows. With binds, `?` and `:name` are their places.
    #
    # @example
    #   database.query("select * from users where id = ?", 1) { |rows, error| … }
    # @return [Array<Hash{String => Object}>, Pending]
    def query(sql, *binds, **named, &block)
      work = -> { rows(sql, binds, named).to_a }
      block ? Pending.spawn(block, &work) : work.call
    end

    # Runs SQL and returns how many rows it changed.
    #
    # @return [Integer, Pending]
    def execute(sql, *binds, **named, &block)
      statement = statement(sql, binds, named)
      work = lambda do
        result = await(statement.sql, statement.binds)
        result.is_a?(Array) ? result.first : result.size
      end
      block ? Pending.spawn(block, &work) : work.call
    end

    # {AsyncRecord.transaction} on this database.
    #
    # @yieldparam transaction [Transaction]
    # @return [Object, nil] what the block returns
    def transaction(**options, &block)
      AsyncRecord.transaction(database: self, **options, &block)
    end

    # @return [AsyncRecord::Rows, Array] no rows for a statement that yields none
    # @api private
    def rows(sql, binds, named)
      statement = statement(sql, binds, named)
      result = await(statement.sql, statement.binds)
      result.is_a?(Array) ? NONE : result
    end

    # @example
    #   database.stats   # => { size: 4, idle: 3, busy: 1, waiting: 0, …, replicas: [{ url: …, healthy: true, … }] }
    # @return [Hash{Symbol => Object}] the pool's numbers, and those of each replica
    def stats
      replicas ? pool.stats.merge(replicas: replicas.stats) : pool.stats
    end

    # Closes the connections; the next statement opens new ones.
    # @return [void]
    def close
      close_pool
      replicas&.close
      schema.forget
    end

    # @return [Numeric] seconds
    # @api private
    def idle_limit
      @options.fetch(:idle_in_transaction, IDLE_IN_TRANSACTION)
    end

    # @return [String, nil] SQLite's file; nil for a database in memory or on a server
    def path
      return unless dialect.name == :sqlite

      file = url.sub(%r{\Asqlite3?:(?://)?}, "").sub(/\?.*\z/, "")
      file unless file.empty? || file.start_with?(":memory:")
    end

    # @param options [Hash] that differ
    # @return [Database] the same database, or another of the same server, with connections of its own
    # @api private
    def twin(url: self.url, **options)
      self.class.new(url, **@options, **options)
    end

    # @return [String] without the password
    def inspect
      "#<#{self.class} #{masked_url}>"
    end

    private

    def scheme(url)
      name = url[/\A([a-z][a-z0-9+]*):/i, 1]
      SCHEMES.fetch(name.to_s.downcase) do
        raise ConfigurationError, "a database URL begins with sqlite:, postgres:// or mysql://, for example " \
                                  "\"sqlite:db/app.db\"#{"; this one begins with #{name}:" if name}"
      end
    end

    def statement(sql, binds, named)
      return Statement.new(sql.to_s, NONE) if binds.empty? && named.empty? && !sql.is_a?(Sql)

      compiler = Compiler.new(dialect, "", nil)
      sql.is_a?(Sql) ? compiler.expression(sql) : compiler.fragment(sql, binds, named)
      compiler.statement
    end
  end
end
