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
      @pending = []
      @settled = []
      @turns = Thread::Queue.new
    end

    # @return [Array<Object>] the values, in order
    # @raise [StandardError] the first error
    def values
      collect { |pending| raise pending.error if pending.error }
      @pending.map(&:result)
    end

    # @return [Array<Object, StandardError>] values and errors, in order
    def settle
      collect { nil }
      @pending.map { |pending| pending.error || pending.result }
    end

    # What is settled is counted by the list: to push to it is one step under the GVL, in whichever thread it happens.
    # Whoever waits is woken only for what it has to do: a failure, the next piece of work, the end.
    #
    # @param pending [Pending] that is settled
    # @return [void]
    def <<(pending)
      @settled << pending
      @turns << pending if pending.error || @pending.size < @work.size || complete?
    end

    private

    def collect(&seen)
      start_next while @pending.size < [@limit, @work.size].min
      until complete?
        yield @turns.pop
        start_next if @pending.size < @work.size
      end
      @settled.each(&seen)
      @complete = true
    ensure
      # Also when whoever waits is interrupted: the client left, or the time is up.
      (@pending | @work.grep(Pending)).each(&:cancel) unless @complete
    end

    def complete?
      @settled.size == @work.size
    end

    def start_next
      pending = pending_for(@work[@pending.size])
      @pending << pending
      self << pending unless pending.tell(self)
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
