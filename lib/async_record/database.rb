# frozen_string_literal: true

# Owns one database: its URL, its dialect, its pool and what is known of its tables. It is the only place that talks to
# the native driver: every statement passes through `await`. The pool opens on first use and again after a fork.
# Refuses to build SQL.

require "fastr/completion"
require "fastr/fork"
require "fastr/native_loader"
require "uri"

module AsyncRecord
  # One database and its connections.
  #
  # @example
  #   database = AsyncRecord::Database.new("sqlite:db/app.db", size: 4)
  #   database.query("select 1 as one")        # => [{ "one" => 1 }]
  class Database
    SCHEMES = {
      "sqlite" => :sqlite, "sqlite3" => :sqlite, "postgres" => :postgresql, "postgresql" => :postgresql,
      "mysql" => :mysql, "mysql2" => :mysql, "mariadb" => :mysql
    }.freeze
    # What the driver of this release speaks.
    DRIVERS = [:sqlite].freeze
    COMING = {
      postgresql: "PostgreSQL is not supported yet", mysql: "MySQL and MariaDB are not supported yet"
    }.freeze
    DDL = /\A\s*(?:create|alter|drop)\b/i
    WRITE = /\A\s*(?:insert\s+(?:ignore\s+)?into|update|delete\s+from|replace\s+into)\s+[`"]?([^\s`"(]+)/i
    NONE = [].freeze
    OPTIONS = { rows: {}.freeze, json: { shape: :json }.freeze }.freeze
    private_constant :SCHEMES, :DRIVERS, :COMING, :DDL, :WRITE, :NONE, :OPTIONS

    # @return [String]
    attr_reader :url
    # @return [Dialect]
    attr_reader :dialect
    # @return [Schema]
    attr_reader :schema

    # @param url [String] "sqlite:db/app.db", "sqlite::memory:"
    # @param options [Hash] passed to the driver: `size:`, `pool_timeout:`, …
    # @raise [ConfigurationError] for a URL that names no known database
    def initialize(url, **options)
      @url = url.to_s.dup.freeze
      @options = options.freeze
      @dialect = Dialect.for(scheme)
      @schema = Schema.new(self)
      @writes = Hash.new(0)
      @mutex = Mutex.new
    end

    # Says whether this release can reach the database. No I/O happens: connections open when first needed.
    #
    # @return [self]
    # @raise [ConnectionError] when the driver comes in a later version
    def connect
      return self if DRIVERS.include?(dialect.name)

      raise ConnectionError, "#{COMING.fetch(dialect.name)}; this version speaks SQLite: " \
                             "AsyncRecord.connect \"sqlite:db/app.db\""
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

    # @return [AsyncRecord::Rows, Array] no rows for a statement that yields none
    # @api private
    def rows(sql, binds, named)
      statement = statement(sql, binds, named)
      result = await(statement.sql, statement.binds)
      result.is_a?(Array) ? NONE : result
    end

    # Waits for one statement: the way all of this library goes.
    #
    # @param shape [Symbol] :rows or :json
    # @param transaction [Transaction, nil] nil means the fiber's own, if it has one
    # @return [AsyncRecord::Rows, String, Array] rows, JSON, or what was written
    # @api private
    def await(sql, binds = NONE, shape: :rows, transaction: nil, timeout: nil)
      transaction ||= Context[self]
      transaction&.check_open
      options = native_options(shape, transaction, timeout)
      result = Instrumentation.active? ? observed(sql, binds, options) : submit(sql, binds, options)
      note_change(sql) unless sql.start_with?("SELECT")
      result
    rescue QueryError => error
      doubt(error)
      raise
    end

    # @param table_name [String]
    # @return [Integer] how often this process wrote to the table: what was read before is older than the last write
    # @api private
    def writes_to(table_name)
      @writes[table_name]
    end

    # Whether {ask} can be used: on the dispatcher, outside of transactions, while nobody measures statements.
    #
    # @return [Boolean]
    # @api private
    def direct?
      Fastr::Dispatcher.on_dispatcher? && Context.current.empty? && !Instrumentation.active?
    end

    # Like {await} for a SELECT, with its result given to a block.
    #
    # @param statement [Statement]
    # @param block [Proc] gets the value
    # @param finish [#call] makes the value of the rows
    # @return [Pending]
    # @api private
    def ask(statement, block, finish, shape: :rows, timeout: nil)
      options = native_options(shape, nil, timeout)
      Pending.ask(block, ->(result) { finish.call(accepted(result)) }) do |sink|
        pool.query(sink, statement.sql, statement.binds, options)
      end
    end

    # The raw seam: hands a sink to the native pool and waits for what comes through it.
    #
    # @yieldparam pool [AsyncRecord::Pool]
    # @yieldparam sink [Integer, Object]
    # @return [Object]
    # @api private
    def complete(pool = self.pool)
      pending = Context[Pending]
      return Fastr::Completion.await { |sink| yield pool, sink } unless pending

      Fastr::Completion.await do |sink|
        yield pool, sink
        pending.sink = sink
      end
    ensure
      pending.sink = nil if pending
    end

    # Like {complete}, for what must be known to its end: who is interrupted meanwhile (the client left) waits on.
    #
    # @return [Array(Object, StandardError)] the result, and the interruption if there was one
    # @api private
    def complete_surely(&submit)
      return [complete(&submit), nil] unless Fastr::Dispatcher.on_dispatcher?

      completion = started(&submit)
      begin
        [completion.await, nil]
      rescue Fastr::DisconnectedError, Fastr::CancelledError => error
        raise unless completion.pending?

        [completion.await, error]
      end
    end

    # Like {complete}, for what must not be left lying about: a result that comes too late goes to `abandoned`.
    #
    # @param abandoned [Proc]
    # @return [Object]
    # @api private
    def complete_or_abandon(abandoned, &submit)
      return complete(&submit) unless Fastr::Dispatcher.on_dispatcher?

      completion = started(&submit)
      begin
        interruptible(completion.id) { completion.await }
      rescue StandardError
        completion.callback(&abandoned).errback { nil }
        completion.cancel
        raise
      end
    end

    # A forked child has a dispatcher of its own, which tells that this is another process without a system call.
    #
    # @return [AsyncRecord::Pool] the native pool of this process
    # @api private
    def pool
      return @pool if @pool && own?

      @mutex.synchronize do
        next @pool if @pool && own?

        connect
        @dispatcher = Fastr::Dispatcher.instance
        @pool = Pool.new(url, @options)
      end
    end

    # @return [Hash{Symbol => Integer}] size idle busy waiting timeouts queries
    def stats
      pool.stats
    end

    # Closes the connections; the next statement opens new ones.
    # @return [void]
    def close
      @mutex.synchronize do
        @pool.close if @pool && own?
        @pool = nil
      end
      schema.forget
    end

    # @return [String] without the password
    def inspect
      "#<#{self.class} #{url.sub(%r{(://[^:/@]*):[^@/]*@}, '\1:…@')}>"
    end

    private

    # @return [Object] a result that is no error
    def accepted(result)
      return result unless result.is_a?(Exception)

      doubt(result)
      raise result
    end

    def note_change(sql)
      return schema.forget if DDL.match?(sql)

      table = sql[WRITE, 1]
      @writes[table] += 1 if table
    end

    # The table may have been changed from outside.
    def doubt(error)
      schema.forget if error.instance_of?(QueryError)
    end

    # @return [Boolean] whether the pool is this process's, not one that came through a fork
    def own?
      @dispatcher.equal?(Fastr::Dispatcher.instance)
    end

    # Lets the promise that the running work belongs to stop it.
    def interruptible(sink)
      pending = Context[Pending]
      pending.sink = sink if pending
      yield
    ensure
      pending.sink = nil if pending
    end

    def started
      pool = self.pool
      Fastr::Completion.start { |sink| yield pool, sink }
    end

    def scheme
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

    def native_options(shape, transaction, timeout)
      options = OPTIONS.fetch(shape)
      return options unless transaction || timeout

      options = options.merge(transaction: transaction.id) if transaction
      timeout ? options.merge(timeout: timeout) : options
    end

    def submit(sql, binds, options)
      complete { |pool, sink| pool.query(sink, sql, binds, options) }
    end

    def observed(sql, binds, options)
      Instrumentation.measure(self, sql, binds) { submit(sql, binds, options) }
    end
  end
end
