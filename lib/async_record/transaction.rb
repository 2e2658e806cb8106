# frozen_string_literal: true

# Owns one transaction: its state, its ending, and what runs after that. A transaction holds one connection; its
# statements run one after the other, whoever asks. Inside AsyncRecord.transaction it belongs to the fiber; everywhere
# else it is handed on with `using(tx)`. Opening, savepoints and what failures mean are in transaction/. Refuses to be
# used after its end.

require_relative "transaction/opening"
require_relative "transaction/savepoints"
require_relative "transaction/failure"
require_relative "transaction/idleness"
require_relative "transaction/heart"
require_relative "transaction/thrown_timeouts"

module AsyncRecord
  # An open transaction.
  class Transaction
    extend Opening
    include Savepoints
    include Failure

    # @return [Database]
    attr_reader :database
    # @return [Integer] the driver's id
    attr_reader :id
    # @return [Symbol] :open, :committed or :rolled_back
    attr_reader :state
    # @return [String, nil] the line that opened it, "app/models/order.rb:12"
    attr_reader :opened_at
    # @return [Float] seconds on the monotonic clock, of its last statement
    # @api private
    attr_reader :used_at

    # @api private
    def initialize(database, id, opened_at: nil)
      @database = database
      @id = id
      @dispatcher = Fastr::Dispatcher.instance
      @opened_at = opened_at
      @state = :open
      @began_at = @used_at = now
      @running = 0
      @after_commit = []
      @after_rollback = []
    end

    # @return [Boolean]
    def open?
      @state == :open && !inherited?
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

    # @yieldparam transaction [Transaction]
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

    # @api private
    # @raise [TransactionClosed]
    def check_open
      raise refusal(closed_message) unless open?
      raise refusal(spoiled_message) if spoiled_by.is_a?(Deadlock)
    end

    # One of its statements runs.
    #
    # @param reading [Boolean] whether it changes nothing
    # @api private
    def use(reading)
      refuse_amid_stream
      @running += 1
      @wrote ||= !reading
      yield
    ensure
      @running -= 1
      @used_at = now
    end

    # Runs a block amid a stream: the connection is busy until that ends.
    # @api private
    def streaming(&block)
      Context.with(@amid ||= [self, :stream].freeze, true, &block)
    end

    # @return [Boolean] whether a statement runs
    # @api private
    def busy?
      @running.positive?
    end

    # @return [Array<String>] names locked until its end
    # @api private
    def advisory_locks
      @advisory_locks ||= []
    end

    # Its request's end is its own.
    # @api private
    def belong_to(request)
      @request = request
      request.in_flight[self] = true
    end

    # Runs the block of a transaction and ends it. Whatever unwinds it takes it back; a block left by `return`, `break`
    # or `throw` has done its work and is committed.
    # @api private
    def guard
      timeouts = ThrownTimeouts.count
      result = yield self
    rescue Exception => error # rubocop:disable Lint/RescueException -- an interrupt must not commit half of the work
      end_quietly
      raise unless error.is_a?(Rollback)
    else
      raise TransactionClosed, closed_message if @lost

      conclude(:committed) if open?
      result
    ensure
      leave(timeouts) if open?
    end

    # Calls what waited for the end, unless nobody knows yet how it ended: then {reclaim} finds out.
    # @api private
    def run_hooks
      call_hooks unless unknown?
    end

    # The request it was begun for is over.
    # @api private
    def client_left
      give_up("its client left")
    end

    # Takes it back from outside, because nobody will end it any more.
    # @api private
    def give_up(reason)
      return unless open?

      @reason = reason
      Pending.spawn { abandon }
    end

    # Its block was interrupted, perhaps in the middle of ending it: a second rollback does no harm.
    # @api private
    def reclaim
      return if @concluded || inherited?

      @reason = "whoever it was for was interrupted"
      @state = :open
      Pending.spawn { abandon }
    end

    # @return [String]
    def inspect
      "#<#{self.class} #{@id} #{@state}#{" opened at #{@opened_at}" if @opened_at}>"
    end

    private

    # It would wait for the stream, which waits for it.
    def refuse_amid_stream
      return unless @amid && Context[@amid]

      raise @refusal = QueryError.new("this transaction's connection is busy with the stream whose block this is; " \
                                      "use find_each, or collect first and write after the stream")
    end

    # Whether it was being ended when whoever waited for that was interrupted, for good.
    def unknown?
      @ending && !@concluded && !@lost
    end

    # Each hook once; the first error is raised when all have run. What is taken back is taken back from its end.
    def call_hooks
      committed = @state == :committed
      hooks = committed ? @after_commit : @after_rollback
      (committed ? hooks.shift : hooks.pop).call until hooks.empty?
    ensure
      call_hooks unless hooks&.empty? # who is interrupted before the first line has run none
    end

    def finish(block, state)
      work = lambda do
        check_open
        conclude_by_hand(state)
        self
      end
      block ? Pending.spawn(block, &work) : work.call
    end

    def conclude_by_hand(state)
      conclude(state)
    ensure
      @concluded ? run_hooks : reclaim
    end

    # However the ending goes, it is over: a commit that fails has rolled back.
    def conclude(state)
      spoiled = state == :committed && spoiled_by
      @state = :rolled_back
      @ending = true
      interruption = conclude_natively(spoiled ? :rolled_back : state)
      raise TransactionClosed, spoiled_message if spoiled
      raise interruption if interruption
    rescue TransactionClosed => error
      raise lost(error.message)
    ensure
      ended
    end

    # Once the database has answered, it has no such transaction any more.
    def conclude_natively(state)
      end_natively(state, -> { concluded(state) })
    rescue Error
      @concluded = true
      raise
    end

    # @param known [#call] is told that it worked, also when whoever waits is interrupted: what is called afterwards
    #   depends on that
    # @return [StandardError, nil] the interruption
    def end_natively(state, known)
      database.complete_surely(known) do |pool, sink|
        state == :committed ? pool.commit(sink, @id) : pool.rollback(sink, @id)
      end
    end

    def concluded(state)
      @concluded = true
      @state = state
      database.replicas&.wrote if @wrote && state == :committed
    end

    def leave(timeouts)
      interrupted = Thread.current.status == "aborting" || ThrownTimeouts.count != timeouts
      interrupted ? end_quietly : conclude(:committed)
    end

    # The error that ends a transaction matters more than a failure to roll back: the driver rolls back by itself when
    # the connection is gone.
    def end_quietly
      conclude(:rolled_back) if open?
    rescue Error
      nil
    end

    def abandon
      end_quietly
      run_hooks
    end

    def ended
      Idleness.forget(self)
      @request&.in_flight&.delete(self)
      publish unless unknown?
    end

    def publish
      return if @published

      @published = true
      Instrumentation.transaction_ended(self, @began_at, @reason)
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
