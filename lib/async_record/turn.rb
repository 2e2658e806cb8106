# frozen_string_literal: true

# Owns taking turns: who comes first goes first, in fibers of the reactor (only the fiber waits) and in threads alike.
# Refuses to know what is done in a turn.

module AsyncRecord
  # A lock whose waiters are served in the order of their arrival.
  class Turn
    # Told to those who waited for too long.
    class TooLate < StandardError; end

    def initialize
      @mutex = Mutex.new
      @moved = ConditionVariable.new
      @line = []
    end

    # @param limit [Numeric, nil] seconds to wait at most
    # @yield when it is the caller's turn
    # @return [Object] what the block returns
    # @raise [TooLate]
    def take(limit = nil)
      release = wait(limit)
      yield
    ensure
      release&.call
    end

    # @param limit [Numeric, nil]
    # @return [Proc] to be called once the turn is over
    # @raise [TooLate]
    def wait(limit = nil)
      ticket = Object.new
      deadline = limit && (now + limit)
      @mutex.synchronize do
        @line << ticket
        stand(ticket, deadline)
      end
      -> { leave(ticket) }
    rescue Exception # rubocop:disable Lint/RescueException -- whoever is interrupted must not block the line
      leave(ticket)
      raise
    end

    # @return [Boolean] whether nobody has or wants a turn
    def free?
      @line.empty?
    end

    private

    def stand(ticket, deadline)
      until @line.first.equal?(ticket)
        left = deadline && (deadline - now)
        raise TooLate if left && left <= 0

        @moved.wait(@mutex, left)
      end
    end

    def leave(ticket)
      @mutex.synchronize do
        @line.delete_if { |other| other.equal?(ticket) }
        @moved.broadcast
      end
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
  private_constant :Turn
end
