# frozen_string_literal: true

# Owns what a failed statement means for the rest of its transaction, and how that is said. Refuses to let a transaction
# of which the database keeps nothing look committed.

module AsyncRecord
  class Transaction
    # The consequences of errors.
    module Failure
      # PostgreSQL's "current transaction is aborted".
      POISONED = "25P02"
      # MySQL's deadlock takes the whole transaction back; what came after it would be committed one by one.
      TAKEN_BACK = 1213
      # What the driver says of one whose commit went on when whoever waited for it was interrupted.
      COMMITTED = "it was committed"
      private_constant :POISONED, :TAKEN_BACK, :COMMITTED

      # A statement of it failed.
      # @api private
      def struck(error)
        return if error.equal?(@refusal)

        case error
        when TransactionClosed then error.reword(lost(error.message).message)
        when QueryError then error.code == POISONED ? explain(error) : (@first_error ||= error)
        end
      end

      private

      # @return [TransactionClosed]
      def lost(reason)
        cause = reason.delete_prefix("transaction #{@id} is over: ")
        @reason ||= cause
        @lost = true
        @state = cause == COMMITTED ? :committed : :rolled_back
        ended
        TransactionClosed.new(closed_message)
      end

      # @return [TransactionClosed] one that the driver had no part in
      def refusal(message)
        @refusal = TransactionClosed.new(message)
      end

      # After these the database keeps nothing of the transaction, whatever is said to it: PostgreSQL answers COMMIT
      # with a rollback, MySQL would commit what came after the deadlock.
      #
      # @return [QueryError, nil]
      def spoiled_by
        return unless @first_error

        case database.dialect.name
        when :postgresql then @first_error if @first_error.code || @first_error.is_a?(QueryTimeout)
        when :mysql then @first_error if @first_error.is_a?(Deadlock) && @first_error.code == TAKEN_BACK
        end
      end

      def spoiled_message
        "nothing of this transaction is kept, because a statement of it failed: #{@first_error.message} " \
          "(#{@first_error.sql}); let the error leave the block, or put the statement into a nested " \
          "AsyncRecord.transaction, which is a savepoint"
      end

      def explain(error)
        cause = @first_error ? ": #{@first_error.message} (#{@first_error.sql})" : ""
        error.reword("an earlier statement of this transaction failed#{cause}. PostgreSQL takes no more of it until " \
                     "it is rolled back; put a statement that may fail into a nested AsyncRecord.transaction, which " \
                     "is a savepoint")
      end

      # Each process has a dispatcher of its own; ids of transactions repeat.
      # @return [Boolean] whether this is a forked child of the process that opened it
      def inherited?
        !@dispatcher.equal?(Fastr::Dispatcher.instance)
      end

      def closed_message
        return "this transaction belongs to the parent process; begin one here" if inherited?

        reason = @reason ? ": #{@reason}" : ""
        opened = @opened_at ? " (it was opened at #{@opened_at})" : ""
        "this transaction is #{@state.to_s.tr("_", " ")}#{reason}#{opened}; begin a new one"
      end
    end
    private_constant :Failure
  end
end
