# frozen_string_literal: true

module Fastr
  class Dispatcher
    # A moment in which the dispatcher's thread stands still in the fiber that it began with while another thread forks.
    #
    # The stacks of threads that are not in the child are free for others there, and Ruby forgets of such a thread only
    # the fiber it was in. Were it a lane, the frames of its first fiber would lie on memory that the child's threads
    # write to, and the garbage collector would read them.
    class Rest
      # Seconds to wait for a dispatcher that is busy; then the fork goes on without.
      LIMIT = 1
      SLICE = 0.02
      private_constant :LIMIT, :SLICE

      # @param dispatcher [Dispatcher]
      # @yield while it rests, if it can
      # @return [Object] what the block returns
      def self.during(dispatcher)
        return yield if !dispatcher.running? || dispatcher.on_thread?

        rest = new
        begin
          dispatcher.next_tick(-> { dispatcher.rest(rest) }, nil)
          rest.await { dispatcher.running? }
          yield
        ensure
          rest.over
        end
      end

      def initialize
        @mutex = Mutex.new
        @changed = ConditionVariable.new
        @state = :asked
      end

      # Until the dispatcher rests, or is not there or too busy for it.
      def await
        deadline = now + LIMIT
        @mutex.synchronize do
          @changed.wait(@mutex, SLICE) while @state == :asked && yield && now < deadline
        end
      rescue ThreadError
        nil # in a trap handler nobody may wait
      end

      # On the dispatcher's thread: stands still until {#over}.
      def stand_still
        @mutex.synchronize do
          return if @state == :over

          @state = :resting
          @changed.signal
          @changed.wait(@mutex) until @state == :over
        end
      end

      def over
        @mutex.synchronize do
          @state = :over
          @changed.signal
        end
      rescue ThreadError
        @state = :over
      end

      private

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
    private_constant :Rest
  end
end
