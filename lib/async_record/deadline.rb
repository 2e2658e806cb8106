# frozen_string_literal: true

# Owns the time limit of a block: each statement in it gets what is left. Refuses to interrupt Ruby code: what waits for
# something else than the database has limits of its own (`Timeout.timeout`).

# A time limit for a block.
module AsyncRecord
  class << self
    # Limits the time of all statements of a block together. The one that runs when the time is up is cancelled, later
    # ones are not started. Inside another such block the shorter time holds.
    #
    # @example
    #   AsyncRecord.timeout(0.5) { [User.count, Post.recent.to_a] }
    # @param seconds [Numeric]
    # @return [Object] what the block returns
    # @raise [QueryTimeout]
    def timeout(seconds, &block)
      raise ArgumentError, "timeout needs a positive number of seconds" unless seconds.positive?

      Context.with(Deadline, Deadline.new(seconds, Context[Deadline]), &block)
    end
  end

  # A moment after which nothing is asked.
  class Deadline
    # @return [Float] on the monotonic clock
    attr_reader :at

    # @param outer [Deadline, nil]
    def initialize(seconds, outer)
      @seconds = seconds
      @at = [now + seconds, outer&.at].compact.min
    end

    # @param timeout [Numeric, nil] the statement's own limit
    # @return [Numeric] what is left for it
    # @raise [QueryTimeout]
    def limit(timeout)
      left = @at - now
      raise QueryTimeout, "the time for this block (#{@seconds} s) was up before the statement began" if left <= 0

      timeout ? [timeout, left].min : left
    end

    private

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
  private_constant :Deadline
end
