# frozen_string_literal: true

# Owns doing several things at once and waiting for all of them. Each runs on a connection of its own; inside a
# transaction there is only one, so they run one after the other. Refuses to leave anything running after a failure:
# the first error cancels the rest.

module AsyncRecord
  # Several pieces of work at once.
  class Gather
    # @param work [Array<Pending, Proc, Relation>]
    # @param limit [Integer, nil] how many may run at once
    def initialize(work, limit: nil)
      raise ArgumentError, "limit: is at least 1" if limit && limit < 1

      @work = work
      @limit = limit || work.size
      @settled = Thread::Queue.new
      @pending = Array.new(work.size)
      @results = Array.new(work.size)
      @next = 0
      @left = work.size
    end

    # @return [Array<Object>] the values, in order
    # @raise [StandardError] the first error
    def values
      collect { |_, error| raise error if error }
    end

    # @return [Array<Object, StandardError>] values and errors, in order
    def settle
      collect { |index, error| @results[index] = error if error }
    end

    private

    def collect
      start_next while @next < [@limit, @work.size].min
      last = @work.empty?
      until last
        index, error, last = @settled.pop
        yield index, error
        start_next if @next < @work.size
      end
      @complete = true
      @results
    ensure
      # Also when whoever waits is interrupted: the client left, or the time is up.
      [*@pending.compact, *@work.grep(Pending)].each(&:cancel) unless @complete
    end

    def start_next
      index = @next
      @next += 1
      @pending[index] = pending_for(@work[index])
                        .on_success { |value| arrived(index, value, nil) }
                        .on_error { |error| arrived(index, nil, error) }
    end

    # On the dispatcher. Whoever waits is woken only for what it has to do: a failure, the next piece of work, the end.
    def arrived(index, value, error)
      @results[index] = value
      last = (@left -= 1).zero?
      @settled << [index, error, last] if last || error || @next < @work.size
    end

    def pending_for(work)
      case work
      when Pending then work
      when Relation then work.async.to_a
      else Pending.spawn { work.call }
      end
    end
  end
  private_constant :Gather
end

# The framework's word for it.
module Fastr
  # {AsyncRecord.gather} under the name that fits what is not a query.
  #
  # @example
  #   pages = Fastr.all(-> { fetch("/a") }, -> { fetch("/b") }, limit: 2)
  # @return [Array<Object>]
  def self.all(*work, limit: nil, settle: false)
    AsyncRecord.gather(*work, limit: limit, settle: settle)
  end
end
