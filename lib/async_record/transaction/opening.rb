# frozen_string_literal: true

# Owns the ways into a transaction: a block (which opens one, or a savepoint of the open one), a handle, and starting
# again when someone else was faster. Refuses options that cannot hold: an isolation level in the middle of a
# transaction, a level that does not exist.

module AsyncRecord
  class Transaction
    # Opens transactions.
    module Opening
      ISOLATIONS = %i[serializable repeatable_read read_committed read_uncommitted].freeze
      # What holds for a transaction as a whole.
      WHOLE = %i[isolation read_only deferrable mode].freeze
      KNOWN = [*WHOLE, :timeout].freeze
      # Seconds before the first retry; doubled each time up to the second number, and spread by chance.
      RETRY_DELAY = 0.01
      RETRY_LIMIT = 1.0
      private_constant :ISOLATIONS, :WHOLE, :KNOWN, :RETRY_DELAY, :RETRY_LIMIT

      # Runs a block in a transaction, or in the one that is open already.
      #
      # @param within [Transaction, nil]
      # @yieldparam transaction [Transaction]
      # @return [Object]
      # @api private
      def run(database, within: nil, **options, &block)
        open = within || Context[database]
        return once(database, options, &block) unless open

        Context.with(database, open) { yield open }
      end

      # Runs a block in a new transaction, or in a savepoint of the one that is open.
      #
      # @return [Object, nil] nil after a {Rollback}
      # @api private
      def nest(database, retries: 0, **options, &block)
        outer = Context[database]
        return with_retries(database, retries, check(database, options), &block) unless outer

        refuse_inside(outer, options)
        outer.savepoint(&block)
      end

      # @return [Transaction] newly begun; the caller ends it
      # @api private
      def begin(database, **options)
        request = Fastr::Dispatcher.current_request
        held = Held.new(database) { |id| new(database, id).reclaim }
        transaction = opened(database, check(database, options), held)
        transaction.belong_to(request) if request
        transaction
      ensure
        held&.release unless transaction
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

      # @param held [Held] has it while nobody else does
      def opened(database, options, held)
        opened_at = Caller.line
        return database.pin.begin(opened_at) if database.pin

        id = held.take { |pool, sink| pool.begin(sink, options) }
        new(database, id, opened_at: opened_at).tap { |transaction| Idleness.watch(transaction) }
      end

      # One that opens after its caller was interrupted would keep a connection, on SQLite every other writer.
      def once(database, options, &block)
        transaction = nil
        held = Held.new(database) { |id| (transaction || new(database, id)).reclaim }
        transaction = opened(database, options, held)
        begin
          Context.with(database, transaction) { transaction.guard(&block) }
        ensure
          transaction.run_hooks
        end
      ensure
        held&.release
      end

      # A hook after the commit may meet a busy database too; that is no reason to do the work again.
      def with_retries(database, retries, options, &block)
        attempt = 0
        begin
          transaction = nil
          once(database, options) { |opened| (transaction = opened).then(&block) }
        rescue BusyError
          raise if attempt >= retries || transaction&.state == :committed

          attempt += 1
          sleep([RETRY_DELAY * (2**attempt), RETRY_LIMIT].min * rand(0.5..1.0))
          retry
        end
      end

      def attempt(transaction)
        yield
      rescue StandardError
        transaction.rollback if transaction&.open?
        raise
      end

      def check(database, options)
        unknown = options.keys - KNOWN
        raise ArgumentError, "a transaction has the options #{KNOWN.join(", ")}, not #{unknown.first}" if unknown.any?

        check_isolation(options[:isolation])
        refuse_elsewhere(database, options)
        options.compact
      end

      def check_isolation(level)
        return if level.nil? || ISOLATIONS.include?(level)

        raise ArgumentError, "isolation: is one of #{ISOLATIONS.map(&:inspect).join(", ")}, not #{level.inspect}"
      end

      def refuse_elsewhere(database, options)
        kind = database.dialect.name
        if options[:deferrable] && kind != :postgresql
          raise NotSupported, "deferrable: is PostgreSQL's; #{kind} has nothing like it"
        end
        return unless options[:mode] && kind != :sqlite

        raise NotSupported, "mode: is SQLite's; choose an isolation: instead"
      end

      def refuse_inside(outer, options)
        check(outer.database, options)
        whole = options.compact.keys & WHOLE
        return if whole.empty?

        raise TransactionIsolationError,
              "#{whole.join(", ")}: holds for a whole transaction, and one is open already" \
              "#{" (since #{outer.opened_at})" if outer.opened_at}; say it where that is opened"
      end
    end
    private_constant :Opening
  end
end
