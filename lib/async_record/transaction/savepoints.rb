# frozen_string_literal: true

# Owns savepoints: transactions within a transaction. Those of several fibers take turns, because the database knows
# only nested ones. Refuses to let a failed savepoint hide its own error.

module AsyncRecord
  class Transaction
    # Marks within an open transaction.
    module Savepoints
      # What a savepoint of ours is called, before its number.
      PREFIX = "ar_"
      private_constant :PREFIX

      # Runs a block whose failure takes back only what it did itself. Hooks that it adds are kept until the transaction
      # ends, and forgotten if the savepoint is taken back.
      #
      # @yieldparam transaction [Transaction]
      # @return [Object, nil] nil after a {Rollback}
      def savepoint(&block)
        check_open
        level = Context[self] || 0
        turn_at(level).take(database.idle_limit) do
          Context.with(self, level + 1) { Context.with(database, self) { marked(&block) } }
        end
      rescue Turn::TooLate
        raise LockTimeout, "another fiber's savepoint in this transaction has been open for " \
                           "#{database.idle_limit} s; does it wait for this one?"
      end

      private

      def turn_at(level)
        @turns ||= []
        @turns[level] ||= Turn.new
      end

      def marked
        name = "#{PREFIX}#{@savepoints = (@savepoints || 0) + 1}"
        hooks = [@after_commit.size, @after_rollback.size]
        statement("SAVEPOINT #{name}")
        begun = true
        timeouts = ThrownTimeouts.count
        yield self
      rescue Exception => error # rubocop:disable Lint/RescueException -- an interrupt must not keep half of the work
        take_back(name, hooks) if begun
        raise unless error.is_a?(Rollback)
      ensure
        # Also when the block was left by `return`, `break` or `throw`: it has done its work.
        statement("RELEASE SAVEPOINT #{name}") if begun && error.nil? && open? && ThrownTimeouts.count == timeouts
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
          statement("ROLLBACK TO SAVEPOINT #{name}")
          statement("RELEASE SAVEPOINT #{name}")
        end
        @first_error = nil
        @after_rollback.slice!(rollbacks..).reverse_each(&:call)
      rescue Error
        nil
      end
    end
    private_constant :Savepoints
  end
end
