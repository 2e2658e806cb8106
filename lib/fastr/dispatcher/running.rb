# frozen_string_literal: true

module Fastr
  class Dispatcher
    # The dispatcher's life: on which thread the loop runs, from when to when, and what a fork means for it.
    module Running
      # Runs the loop on the calling thread until {#stop}.
      # @param first [#call, nil] what to do before any event
      # @raise whatever a callback raised that nothing else handles
      # @return [void]
      def run(first = nil)
        leave_background
        run_here(first)
      end

      # Makes {#run} return after the callback that runs now. Callable from any thread and in a trap handler.
      # @return [void]
      def stop
        @stopping = true
        Native.tick
      end

      # @return [Boolean] whether {#run} is active
      def running?
        @running
      end

      # @return [Boolean] whether it runs on a thread that nobody called {#run} on
      def background?
        @running && @thread.equal?(@background)
      end

      # Starts a dispatcher on a thread of its own if none runs: for programs that never call run.
      # @return [void]
      def ensure_running
        return if @running

        ready = Thread::Queue.new
        Thread.new { run_in_background(ready) }
        ready.pop
      end

      # Lets go of everything that belongs to the parent process: the loop ends when the code that forked returns to it.
      # @return [Dispatcher] a new one for the child
      # @api private
      def abandon
        forget_everything
        @stopping = true
        on_thread? ? Fiber.set_scheduler(nil) : forget_thread
        Dispatcher.new(@last_id).tap do |child|
          child.handler = @handler
          child.error_handler = @error_handler
        end
      end

      # Runs a block, a fork, while the loop stands still, see {Rest}.
      # @api private
      def at_rest(&block)
        Rest.during(self, &block)
      end

      # In a lane: the thread's first fiber rests, and the lane goes on afterwards.
      # @api private
      def rest(rest)
        @rest = [rest, Fiber.current]
        @root.transfer
      end

      private

      # Nothing of the child leads to the fibers of a thread that it does not have.
      def forget_thread
        @root = @thread = @background = nil
      end

      def forget_everything
        @inbox = []
        @ticked = false
        @successor = @rest = nil
        @ticks = []
        @pending = {}
        @early = {}
        @waiting = {}
        @closers = {}
        @idle = []
        @batch = []
        @position = 0
      end

      def run_here(first, background: nil)
        # One step, so that of two threads only one begins.
        active, @running = @running, true # rubocop:disable Style/ParallelAssignment
        raise ReactorError, "the dispatcher runs already, on #{@thread.inspect}" if active

        @stopping = false
        @thread = Thread.current
        @thread.extend(SparedThread)
        @background = background
        begin
          begin_run
          run_lanes(first)
          cancel_parked
          cancel_asked unless @goes_on || @failure # after a failure the next run goes on
        ensure
          end_run
        end
        failure = @failure
        @failure = nil
        raise failure if failure
      end

      # Another thread may have begun to run meanwhile; then that one is the dispatcher.
      def run_in_background(ready)
        Thread.current.name = "fastr-dispatcher"
        Thread.current.report_on_exception = true
        run_here(-> { ready.push(true) }, background: Thread.current)
      rescue ReactorError
        raise unless @running
      ensure
        ready.push(true)
      end

      # A program that calls run after all takes the loop over.
      def leave_background
        background = @background
        return if background.nil? || background.equal?(Thread.current)

        if background.alive?
          @goes_on = true # what was asked for is answered by the next run
          stop
          background.join
        end
        @background = nil
      ensure
        @goes_on = false
      end

      def begin_run
        @root = Fiber.current
        Native.start
        Native.dispatch_here(true)
        @scheduler = Scheduler.new(self)
        Fiber.set_scheduler(@scheduler)
        @ticked = true
        Native.tick
      end

      # Fibers cannot be resumed by another thread: a later run must not find them.
      def end_run
        fail_parked
        @pending.delete_if { |_, receiver| receiver.is_a?(Fiber) }
        @waiting.clear
        @idle.clear
        Fiber.set_scheduler(nil)
        Native.flush
        Native.dispatch_here(false)
      ensure
        @thread = @root = nil
        @running = false
      end

      # After Thread#kill fibers are still parked, and nothing can resume them: their clients hear of it.
      def fail_parked
        lanes = (@pending.values | @waiting.values.flatten).grep(Lane)
        requests = lanes.select(&:alive?).filter_map(&:request).uniq
        requests.each { |request| failed(CancelledError.new("the dispatcher's thread was killed"), request) }
      end

      def stand_still
        rest, lane = @rest
        @rest = nil
        rest.stand_still
        lane.transfer
      end

      # A fiber that was transferred to and that ends leaves its thread's first fiber in charge: a surplus lane that
      # named its successor, or one of user code. The loop goes on all the same.
      def run_lanes(first)
        Lane.new(self, first).transfer
        until @stopping && !@successor && !@rest
          if @rest
            stand_still
          else
            fiber, value = @successor
            @successor = nil
            fiber ? fiber.transfer(value) : next_lane.transfer
          end
        end
      end
    end
    private_constant :Running
  end
end
