# frozen_string_literal: true

# Owns telling a block that ran out of time from one that was left by `return`, `break` or `throw`: the former must not
# commit half of its work. Before Ruby 3.3 `Timeout.timeout` ends a block by a throw, which looks like the others; only
# its own method `Timeout::Error#exception` knows. A trace of that one method counts its calls, and costs nothing
# else. Fibers of the reactor do not need it: there a timeout is an exception.

require "timeout"

module AsyncRecord
  class Transaction
    # The timeouts of each thread that ended a block by a throw.
    module ThrownTimeouts
      KEY = :async_record_thrown_timeouts
      private_constant :KEY

      class << self
        # @return [Integer] so far, in this thread
        def count
          Thread.current.thread_variable_get(KEY) || 0
        end

        private

        def note(_trace)
          Thread.current.thread_variable_set(KEY, count + 1)
        end
      end

      if Timeout::Error.method_defined?(:exception, false)
        TRACE = TracePoint.new(:call, &method(:note))
        TRACE.enable(target: Timeout::Error.instance_method(:exception))
        private_constant :TRACE
      end
    end
    private_constant :ThrownTimeouts
  end
end
