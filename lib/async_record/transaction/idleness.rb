# frozen_string_literal: true

# Owns the watch over open transactions: the driver takes one back that has had no statement for long, and here it is
# said whose that was. One timer for all that are open, none while none is. Refuses to end anything that is in use.

module AsyncRecord
  class Transaction
    # The open transactions of this process.
    module Idleness
      # Seconds after the driver's own limit, so that the driver has done it when it is told.
      GRACE = 0.1
      private_constant :GRACE

      @open = {}.compare_by_identity
      @dispatcher = nil
      @due = nil

      class << self
        # @param transaction [Transaction]
        # @return [void]
        def watch(transaction)
          start_anew unless @dispatcher.equal?(Fastr::Dispatcher.instance)
          @open[transaction] = true
          arm(now + transaction.database.idle_limit + GRACE)
        end

        # @return [void]
        def forget(transaction)
          @open.delete(transaction)
        end

        # The time has come to look.
        # @api private
        def call(_value = nil)
          @due = nil
          soonest = @open.keys.filter_map { |transaction| look(transaction, now) }.min
          arm(soonest) if soonest
        end

        # @return [nil] a timer belongs to no request
        # @api private
        def request
          nil
        end

        private

        # After a fork: what was open is the parent's.
        def start_anew
          @open = {}.compare_by_identity
          @due = nil
          @dispatcher = Fastr::Dispatcher.instance
        end

        # Nearly always there is a timer that comes first, of a transaction that was opened earlier.
        def arm(due)
          return if @due && @due <= due

          @due = due
          @dispatcher.ensure_running
          @dispatcher.after([due - now, 0].max, self)
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end

        # @return [Float, nil] when it will have idled for too long; nil if it has
        def look(transaction, now)
          limit = transaction.database.idle_limit
          due = (transaction.busy? ? now : transaction.used_at) + limit + GRACE
          return due if due > now

          QueryLog.warn("a transaction was rolled back, it had no statement for #{limit} s; " \
                        "it was opened at #{transaction.opened_at || "an unknown line"}")
          transaction.give_up("it had no statement for #{limit} s")
          nil
        end
      end
    end
    private_constant :Idleness
  end
end
