# frozen_string_literal: true

# Owns the watch over open transactions: the driver takes one back that has had no statement for long, and here it is
# said whose that was. One timer for all that are open, none while none is. Refuses to end anything that is in use.

module AsyncRecord
  class Transaction
    # The open transactions of this process by their numbers: one that is taken back before its caller has it is known
    # by that alone.
    module Idleness
      # Seconds after the driver's own limit, so that the driver has done it when it is told.
      GRACE = 0.1
      private_constant :GRACE

      @lock = Mutex.new
      @open = {}
      @dispatcher = nil
      @due = nil
      @timer = nil

      class << self
        # @param transaction [Transaction]
        # @return [void]
        def watch(transaction)
          @lock.synchronize do
            start_anew unless @dispatcher.equal?(Fastr::Dispatcher.instance)
            @open[transaction.id] = transaction
            arm(now + transaction.database.idle_limit + GRACE)
          end
        end

        # @return [nil]
        def forget(transaction)
          @lock.synchronize do
            @open.delete(transaction.id)
            disarm if @open.empty?
          end
          nil
        end

        # The time has come to look.
        # @api private
        def call(_value = nil)
          open = @lock.synchronize do
            @due = @timer = nil
            @open.values
          end
          soonest = open.filter_map { |transaction| look(transaction, now) }.min
          @lock.synchronize { arm(soonest) } if soonest
        end

        # @return [nil] a timer belongs to no request
        # @api private
        def request
          nil
        end

        private

        # After a fork: what was open is the parent's.
        def start_anew
          @open = {}
          @due = @timer = nil
          @dispatcher = Fastr::Dispatcher.instance
        end

        # Nearly always there is a timer that comes first, of a transaction that was opened earlier.
        def arm(due)
          return if @due && @due <= due

          disarm
          @due = due
          @dispatcher.ensure_running
          @timer = @dispatcher.after([due - now, 0].max, self)
        end

        def disarm
          Fastr::Native.cancel(@timer) if @timer && @dispatcher.forget(@timer)
          @due = @timer = nil
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end

        # @return [Float, nil] when it will have idled for too long; nil if it has, or is over: whoever ended it was
        #   perhaps interrupted before that was said here
        def look(transaction, now)
          return forget(transaction) unless transaction.open?

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
