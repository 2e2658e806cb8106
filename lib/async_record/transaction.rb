# frozen_string_literal: true

# Owns transactions: opening, ending, savepoints, and what runs after them. A transaction holds one connection; its
# statements run one after the other. Inside AsyncRecord.transaction it belongs to the fiber; everywhere else it is
# handed on with `using(tx)`. Refuses to be used after its end.

module AsyncRecord
  # An open transaction.
  class Transaction
    # What a savepoint of ours is called, before its number.
    SAVEPOINT = "ar_"
    # Seconds before the first retry; doubled each time, and spread by chance.
    RETRY_DELAY = 0.01
    private_constant :SAVEPOINT, :RETRY_DELAY

    # @return [Database]
    attr_reader :database
    # @return [Integer] the driver's id
    attr_reader :id
    # @return [Symbol] :open, :committed or :rolled_back
    attr_reader :state

    class << self
      # Runs a block in a transaction, or in the one that is open already.
      #
      # @param within [Transaction, nil]
      # @yieldparam transaction [Transaction]
      # @return [Object]
      # @api private
      def run(database, within: nil, **options, &block)
        open = within || Context[database]
        return fresh(database, **options, &block) unless open

        Context.with(database, open) { yield open }
      end

      # Runs a block in a new transaction, or in a savepoint of the one that is open.
      #
      # @return [Object, nil] nil after a {Rollback}
      # @api private
      def nest(database, retries: 0, **options, &block)
        outer = Context[database]
        outer ? outer.savepoint(&block) : with_retries(retries) { fresh(database, **options, &block) }
      end

      # @return [Transaction] newly begun; the caller ends it
      # @api private
      def begin(database, **options)
        # One that opens after its caller was interrupted would keep every other writer waiting.
        close = ->(id) { new(database, id).rollback { nil } }
        new(database, database.complete_or_abandon(close) { |pool, sink| pool.begin(sink, options) })
      end

      # @return [Proc] the block, which takes its transaction back when it raises
      # @api private
      def guarded(block)
        if Pending.takes_error?(block)
          proc { |transaction, error| attempt(transaction) { block.call(transaction, error) } }
        else
          proc { |transaction| attempt(transaction) { block.call(transaction) } }
        end
      end

      private

      def fresh(database, **options, &block)
        transaction = self.begin(database, **options)
        begin
          Context.with(database, transaction) { transaction.guard(&block) }
        ensure
          transaction.run_hooks
        end
      end

      def attempt(transaction)
        yield
      rescue StandardError
        transaction.rollback if transaction&.open?
        raise
      end

      def with_retries(retries)
        attempt = 0
        begin
          yield
        rescue BusyError
          raise if attempt >= retries

          attempt += 1
          sleep(RETRY_DELAY * (2**attempt) * rand(0.5..1.0))
          retry
        end
      end
    end

    # @api private
    def initialize(database, id)
      @database = database
      @id = id
      @state = :open
      @depth = 0
      @after_commit = []
      @after_rollback = []
    end

    # @return [Boolean]
    def open?
      @state == :open
    end

    # Remembers what to do once the transaction is committed. What a savepoint took back is forgotten.
    #
    # @yield after the commit, in the committing fiber
    # @return [self]
    def after_commit(&block)
      @after_commit << block
      self
    end

    # @yield after a rollback
    # @return [self]
    def after_rollback(&block)
      @after_rollback << block
      self
    end

    # @yieldparam nothing [nil]
    # @return [self, Pending]
    def commit(&block)
      finish(block, :committed)
    end

    # @return [self, Pending]
    def rollback(&block)
      finish(block, :rolled_back)
    end

    # Runs SQL in the transaction.
    # @return [Array<Hash>, Pending]
    def query(sql, *binds, **named, &block)
      work = -> { Context.with(database, self) { database.query(sql, *binds, **named) } }
      block ? Pending.spawn(block, &work) : work.call
    end

    # Runs a block whose failure takes back only what it did itself.
    #
    # @yieldparam transaction [Transaction]
    # @return [Object, nil] nil after a {Rollback}
    def savepoint
      check_open
      name = "#{SAVEPOINT}#{@depth += 1}"
      hooks = [@after_commit.size, @after_rollback.size]
      statement("SAVEPOINT #{name}")
      result = Context.with(database, self) { yield self }
      statement("RELEASE #{name}")
      result
    rescue StandardError => error
      take_back(name, hooks) if hooks
      raise unless error.is_a?(Rollback)
    ensure
      @depth -= 1 if name
    end

    # @api private
    # @raise [TransactionClosed]
    def check_open
      return if open?

      raise TransactionClosed, "this transaction is #{@state.to_s.tr('_', ' ')}; begin a new one"
    end

    # Runs the block of a transaction and ends it. Whatever unwinds it takes it back; a block left by `return`, `break`
    # or `throw` has done its work and is committed.
    # @api private
    def guard
      result = yield self
    rescue Exception => error # rubocop:disable Lint/RescueException -- an interrupt must not commit half of the work
      end_quietly
      raise unless error.is_a?(Rollback)
    else
      conclude(:committed) if open?
      result
    ensure
      leave if open?
    end

    # Calls what waited for the end. What is taken back is taken back from its end.
    # @api private
    def run_hooks
      hooks = @state == :committed ? @after_commit : @after_rollback.reverse!
      hooks.shift.call until hooks.empty?
    end

    # @return [String]
    def inspect
      "#<AsyncRecord::Transaction #{@id} #{@state}>"
    end

    private

    def finish(block, state)
      work = lambda do
        check_open
        conclude(state)
        run_hooks
        self
      end
      block ? Pending.spawn(block, &work) : work.call
    end

    # However the ending goes, it is over: a commit that fails has rolled back.
    def conclude(state)
      @state = :rolled_back
      _, interruption = database.complete_surely do |pool, sink|
        state == :committed ? pool.commit(sink, @id) : pool.rollback(sink, @id)
      end
      @state = state
      raise interruption if interruption
    end

    def leave
      Thread.current.status == "aborting" ? end_quietly : conclude(:committed)
    end

    # The error that ends a transaction matters more than a failure to roll back: the driver rolls back by itself when
    # the connection is gone.
    def end_quietly
      conclude(:rolled_back) if open?
    rescue Error
      nil
    end

    def statement(sql)
      database.await(sql, transaction: self)
    end

    # The savepoint's own error matters more than a failure to take it back: the transaction is lost then, and its end
    # says so.
    def take_back(name, hooks)
      commits, rollbacks = hooks
      @after_commit.slice!(commits..)
      if open?
        statement("ROLLBACK TO #{name}")
        statement("RELEASE #{name}")
      end
      @after_rollback.slice!(rollbacks..).reverse_each(&:call)
    rescue Error
      nil
    end
  end
end
