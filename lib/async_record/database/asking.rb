# frozen_string_literal: true

# Owns the running of statements: every one passes through `await` or, from a callback on the dispatcher, through `ask`.
# It looks up what the running code has set around itself (a transaction, a time limit, tags), chooses primary or
# replica, and completes errors. Refuses to build SQL.

require_relative "../caller"
require_relative "../complaint"
require_relative "asked"

module AsyncRecord
  # Runs statements on a database.
  module Asking
    DDL = /\A\s*(?:create|alter|drop)\b/i
    WRITE = /\A\s*(?:insert\s+(?:ignore\s+)?into|update|delete\s+from|replace\s+into)\s+[`"]?([^\s`"(]+)/i
    NONE = [].freeze
    OPTIONS = { rows: {}.freeze, json: { shape: :json }.freeze }.freeze
    # Statements of so many bytes are remembered, and so many of them.
    READ_ONCE = 1000
    TARGETS = 500
    private_constant :DDL, :WRITE, :NONE, :OPTIONS, :READ_ONCE, :TARGETS

    # Waits for one statement: the way all of this library goes.
    #
    # @param shape [Symbol] :rows or :json
    # @param transaction [Transaction, nil] nil means the fiber's own, if it has one
    # @return [AsyncRecord::Rows, String, Array] rows, JSON, or what was written
    # @api private
    def await(sql, binds = NONE, shape: :rows, transaction: nil, timeout: nil)
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      context = Context.current
      result = if transaction.nil? && @simple && Context.plain?(context) && !Instrumentation.active?
                 submit(sql, binds, native_options(shape, nil, timeout))
               else
                 transaction ||= transaction_in(context)
                 transaction&.check_open
                 options = native_options(shape, transaction, left_of(timeout, context))
                 carefully(sql, binds, options, transaction, context)
               end
      note_change(sql) unless sql.start_with?("SELECT")
      result
    rescue Error => error
      doubt(error)
      raise Complaint.complete(error, self, binds, transaction, started)
    end

    # Runs a script: statements without binds, whose rows nobody wants, as servers take them unprepared. What a
    # migration does goes this way.
    #
    # @param transaction [Transaction, nil] nil means the fiber's own, if it has one
    # @return [void]
    # @api private
    def script(sql, transaction: nil)
      transaction ||= transaction_in(Context.current)
      transaction&.check_open
      options = native_options(:rows, transaction, nil)
      return submit_script(sql, options) unless Instrumentation.active?

      Instrumentation.measure(self, sql, NONE, options, transaction) { |timed| submit_script(sql, timed) }
    ensure
      changed_schema
    end

    # @param table_name [String]
    # @return [Integer] how often this process wrote to the table: what was read before is older than the last write
    # @api private
    def writes_to(table_name)
      @writes ? @writes[table_name] : 0
    end

    # Whether {ask} can be used: on the dispatcher, where nothing that concerns statements is set around the code, while
    # nobody measures them.
    #
    # @return [Boolean]
    # @api private
    def direct?
      @simple && Fastr::Dispatcher.on_dispatcher? && Context.plain?(Context.current) && !Instrumentation.active?
    end

    # Like {await} for a SELECT, without waiting.
    #
    # @param statement [Statement]
    # @param block [Proc, nil] gets the value
    # @param receiver [Object] makes the value of the rows
    # @param finish [Symbol] by this method
    # @return [Pending]
    # @api private
    def ask(statement, block, receiver, finish, shape: :rows, timeout: nil)
      Pending.ask(block, Asked.new(self, statement, native_options(shape, nil, timeout), receiver, finish))
    end

    # Counts a statement that was asked and has written.
    # @return [void]
    # @api private
    def wrote(sql)
      note_change(sql)
    end

    # @return [Object] a result that is no error
    # @raise [StandardError] what it is otherwise
    # @api private
    def accepted(result, binds, started)
      return result unless result.is_a?(Exception)
      raise result unless result.is_a?(Error)

      doubt(result)
      raise Complaint.complete(result, self, binds, nil, started)
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

    # Like {complete}, for what must be known to its end: who is interrupted meanwhile (the client left, time is up)
    # waits on; a thread not for long, because it may be one that the whole program waits for.
    #
    # @param known [#call] is called when it succeeded, before any interruption is felt
    # @return [StandardError, nil] what interrupted a fiber; a thread's interruption goes its own way
    # @api private
    def complete_surely(known, &submit)
      return outlast_in_thread(known, &submit) unless Fastr::Dispatcher.on_dispatcher?

      interruption = outlast(start(&submit))
      known.call
      interruption
    end

    # Like {complete} in a fiber, for what must not be left lying about: a result that comes too late goes to
    # `abandoned`. See {Held}.
    #
    # @param abandoned [Proc]
    # @return [Object]
    # @api private
    def complete_or_abandon(abandoned, pool, &submit)
      completion = start(pool, &submit)
      begin
        interruptible(completion.id) { completion.await }
      rescue StandardError
        completion.callback(&abandoned).errback { nil }
        completion.cancel
        raise
      end
    end

    # @return [Fastr::Waiter] what a thread gives as a sink, and sleeps on
    # @api private
    def waiter
      Fastr::Waiter.new
    end

    # @return [Transaction, nil] the one that the running code belongs to
    # @api private
    def transaction_in(context)
      context[self] || @pin&.transaction
    end

    # What a test has everything run on.
    #
    # @return [Test::Pin, nil]
    # @api private
    attr_reader :pin

    # @param pin [Test::Pin, nil]
    # @api private
    def pin=(pin)
      @pin = pin
      @simple = pin.nil? && @replicas.nil?
    end

    private

    # With whatever is set around the code.
    def carefully(sql, binds, options, transaction, context)
      sql = context[Tags].append(sql) if context.key?(Tags)
      return run(sql, binds, options, transaction, context) unless Instrumentation.active?

      Instrumentation.measure(self, sql, binds, options, transaction) do |timed|
        run(sql, binds, timed, transaction, context)
      end
    end

    def left_of(timeout, context)
      context.key?(Deadline) ? context[Deadline].limit(timeout) : timeout
    end

    # Where: in the transaction, on a replica, or on the primary.
    def run(sql, binds, options, transaction, context)
      reading = @replicas && Replicas.reading?(sql)
      return transaction.use(reading) { submit(sql, binds, options) } if transaction
      return submit(sql, binds, options) unless @replicas
      return submit(sql, binds, options).tap { @replicas.wrote } unless reading
      return submit(sql, binds, options) if @replicas.primary?(context)

      @replicas.read { |pool| submit(sql, binds, options, pool || self.pool) }
    end

    def note_change(sql)
      table = @targets[sql] || target_of(sql)
      return changed_schema if table == :schema

      (@writes ||= Hash.new(0))[table] += 1 if table
    end

    # @return [String, Symbol, nil] the table that a statement writes to; :schema if it changes that. What the compiler
    #   made is read once.
    def target_of(sql)
      return :schema if DDL.match?(sql)

      table = sql[WRITE, 1]
      return table unless sql.frozen? && sql.bytesize < READ_ONCE

      @targets.clear if @targets.size >= TARGETS
      @targets[sql] = table
    end

    def changed_schema
      schema.forget
      pin&.changed_schema
    end

    # The table may have been changed from outside.
    def doubt(error)
      schema.forget if error.instance_of?(QueryError)
    end

    # A second interruption is not withstood.
    def outlast(completion)
      completion.await
      nil
    rescue StandardError => error
      completion.pending? ? completion.await : completion.outcome
      error
    end

    def outlast_in_thread(known)
      answered = false
      waiter = self.waiter
      yield pool, waiter
      # An interrupt may end the waiting, but not come between its end and what is known then.
      Thread.handle_interrupt(Object => :on_blocking) do
        waiter.wait(nil)
        answered = true
        known.call
      end
      nil
    rescue Error
      answered = true
      raise
    ensure
      Held.outlast(waiter) { known.call } unless answered || waiter.nil?
    end

    # Lets the promise that the running work belongs to stop it.
    def interruptible(sink)
      pending = Context[Pending]
      pending.sink = sink if pending
      yield
    ensure
      pending.sink = nil if pending
    end

    def start(pool = self.pool)
      Fastr::Completion.start { |sink| yield pool, sink }
    end

    def native_options(shape, transaction, timeout)
      options = OPTIONS.fetch(shape)
      return options unless transaction || timeout

      options = options.merge(transaction: transaction.id) if transaction
      timeout ? options.merge(timeout: timeout) : options
    end

    def submit_script(sql, options)
      complete { |pool, sink| pool.script(sink, sql, options) }
      NONE
    end

    def submit(sql, binds, options, pool = self.pool)
      complete(pool) { |chosen, sink| chosen.query(sink, sql, binds, options) }
    end
  end
  private_constant :Asking
end
