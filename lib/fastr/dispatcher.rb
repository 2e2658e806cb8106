# frozen_string_literal: true

require_relative "errors"
require_relative "lane"
require_relative "scheduler"

module Fastr
  # The dispatcher: the one thread that runs the program's Ruby code. It takes events off the queue, hands requests
  # to the handler, resumes fibers and calls callbacks. It never waits for anything but the queue.
  #
  # The event loop is not bound to one fiber. It runs in whichever {Lane} is current; when the code in that lane
  # parks, another lane goes on with the loop, and a lane whose result arrives becomes the loop again once its work
  # is done. Work that never waits therefore costs no switch at all.
  class Dispatcher
    # Fibers kept for reuse; more are made when more wait at once, and dropped when they finish.
    IDLE_LANES = 256
    private_constant :IDLE_LANES

    # @return [Thread, nil] the thread that runs the loop
    attr_reader :thread
    # @return [#call, nil] what requests are given to
    attr_accessor :handler
    # @return [#call, nil] called with every exception that no request owns; without one it ends {#run}
    attr_accessor :error_handler

    class << self
      # @return [Dispatcher] the one of this process
      attr_reader :instance

      # Runs a block on the dispatcher, after what is queued already. Callable from any thread and in a trap handler.
      # @yield on the dispatcher's thread, in a fiber that may wait
      # @return [void]
      # @example
      #   trap("USR1") { Fastr::Dispatcher.next_tick { puts "on the dispatcher" } }
      def next_tick(&block)
        instance.next_tick(block)
        nil
      end

      # Runs a block at once when called on the dispatcher, else like {next_tick}.
      # @return [void]
      def schedule(&block)
        instance.on_thread? ? block.call : instance.next_tick(block)
        nil
      end

      # @return [Boolean] whether the caller runs on the dispatcher's thread
      def on_dispatcher?
        instance.on_thread?
      end

      # @return [Request, nil] the request that the calling code runs for
      def current_request
        instance.current_request
      end

      # Calls a block when the client of a request leaves before its answer is complete.
      # @param request [Request]
      # @yield on the dispatcher
      # @return [void]
      def on_closed(request, &block)
        instance.on_closed(request, &block)
        nil
      end

      # In a forked child: the parent's fibers, callbacks and reactor are the parent's.
      # @api private
      def after_fork
        @instance = new
      end
    end

    def initialize
      @inbox = []
      @ticks = []
      @pending = {}
      @waiting = {}
      @closers = {}
      @idle = []
      @batch = []
      @position = 0
      @last_id = 0
      @running = false
      @stopping = false
    end

    # Runs the loop on the calling thread until {#stop}.
    # @param first [#call, nil] what to do before any event
    # @raise whatever a callback raised that nothing else handles
    # @return [void]
    def run(first = nil)
      leave_background
      raise ReactorError, "the dispatcher runs already, on #{@thread.inspect}" if @running

      begin_run
      Lane.new(self, first).transfer
      cancel_parked
      failure = @failure
      @failure = nil
      raise failure if failure
    ensure
      end_run if @thread.equal?(Thread.current)
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

    # @return [Boolean] whether the caller runs on the dispatcher's thread
    def on_thread?
      Thread.current.equal?(@thread)
    end

    # @return [Boolean] whether the calling fiber can be parked
    def parkable?
      Thread.current.equal?(@thread) && !Fiber.current.equal?(@root)
    end

    # @return [Request, nil] the request that the calling fiber works for
    def current_request
      fiber = Fiber.current
      fiber.is_a?(Lane) && on_thread? ? fiber.request : nil
    end

    # Queues a callable, with the request it belongs to. An Array is the inbox because pushing to it is one step under
    # the GVL: it needs no Mutex, so it works in a trap handler.
    # @param callable [#call]
    # @return [void]
    def next_tick(callable, request = current_request)
      wake = @inbox.empty?
      @inbox.push(callable, request)
      Native.tick if wake
    end

    # Enters a receiver and gives the completion id to submit an operation under.
    # @param receiver [Fiber, #complete] what the result is for
    # @return [Integer]
    def register(receiver)
      id = (@last_id += 1)
      @pending[id] = receiver
      id
    end

    # Strikes a receiver off, so that a late result finds nobody.
    # @return [Fiber, #complete, nil]
    def forget(id)
      @pending.delete(id)
    end

    # Parks the calling fiber until something is transferred to it; the loop goes on in another lane.
    # @return [Object] what it was resumed with
    def park
      fiber = Fiber.current
      request = fiber.is_a?(Lane) ? fiber.request : nil
      return next_lane.transfer unless request

      wait_for(request.id, fiber)
    end

    # Gives a parked fiber its result. The calling lane waits at the side until it is needed again.
    # @return [void]
    def resume(fiber, value)
      @idle.push(Fiber.current) if @idle.size < IDLE_LANES
      fiber.transfer(value)
    end

    # Hands a value to a receiver as if its operation had completed with it.
    # @return [void]
    def deliver(id, value)
      receiver = @pending.delete(id)
      next_tick(-> { resume(receiver, value) }, nil) if receiver
    end

    # Calls a receiver with nil after so many seconds.
    # @return [Integer] its completion id
    def after(seconds, receiver)
      id = register(receiver)
      Native.timer(id, seconds)
      id
    end

    # Leaves the calling fiber for a new lane that begins with a block.
    # @return [Object] what the calling fiber is resumed with
    # @api private
    def start_lane(block)
      Lane.new(self, block).tap(&:transfer)
    end

    # Starts a dispatcher on a thread of its own if none runs: for programs that never call run.
    # @return [void]
    def ensure_running
      return if @running || @background

      ready = Thread::Queue.new
      @background = Thread.new { run_in_background(ready) }
      ready.pop
    end

    # Raises in a parked fiber.
    # @return [void]
    def raise_in(fiber, *exception)
      @idle.push(Fiber.current) if @idle.size < IDLE_LANES
      fiber.raise(*exception)
    end

    # @see Dispatcher.on_closed
    def on_closed(request, &closer)
      (@closers[request.id] ||= []) << closer
      request.watch
    end

    # The loop, run by each lane between its works.
    # @api private
    def loop_in(lane, work = nil)
      call(lane, work, nil) if work
      until @stopping
        if (callable = @ticks.shift)
          call(lane, callable, @ticks.shift)
        else
          take(lane, next_event)
        end
      end
      @root.transfer
    rescue Exception => e # rubocop:disable Lint/RescueException -- Thread#raise and exit: the caller of run gets them
      @failure = e
      @root.transfer
    end

    # Reports an exception that user code raised outside of a request's own error handling.
    # @api private
    def failed(error, request)
      if request && @handler.respond_to?(:failed)
        @handler.failed(request, error)
      elsif @error_handler
        @error_handler.call(error)
      else
        @failure = error
        @stopping = true
      end
    end

    private

    def run_in_background(ready)
      Thread.current.name = "fastr-dispatcher"
      Thread.current.report_on_exception = true
      next_tick(-> { ready.push(true) }, nil)
      run
    end

    # A program that calls run after all takes the loop over.
    def leave_background
      return if @background.nil? || @background.equal?(Thread.current)

      stop
      @background.join
      @background = nil
    end

    def begin_run
      Native.start
      @thread = Thread.current
      @root = Fiber.current
      @running = true
      @stopping = false
      Native.dispatch_here(true)
      @scheduler = Scheduler.new(self)
      Fiber.set_scheduler(@scheduler)
      Native.tick unless @inbox.empty?
    end

    def end_run
      Native.flush
      Native.dispatch_here(false)
      @running = false
      @thread = @root = nil
      @idle.clear
      Fiber.set_scheduler(nil)
    end

    # Parks a fiber where the client's leaving finds it. Most requests have one fiber that waits; then no Array is made.
    def wait_for(request_id, fiber)
      others = @waiting[request_id]
      @waiting[request_id] = others ? [*others, fiber] : fiber
      next_lane.transfer
    ensure
      left = @waiting.delete(request_id)
      others = left.is_a?(Array) ? left - [fiber] : []
      @waiting[request_id] = others.size == 1 ? others.first : others unless others.empty?
    end

    # The next element of the batch; a new batch is waited for when it is empty.
    def next_event
      while @position >= @batch.size
        @batch = Native.wait(nil)
        @position = 0
        return if @batch.empty?
      end
      event = @batch[@position]
      @position += 1
      event
    end

    def take(lane, event)
      case event
      when Request then serve(lane, event)
      when Integer then complete(lane, event, next_event)
      when :tick
        @ticks.concat(@inbox)
        @inbox.clear
      when :closed then close(lane, next_event)
      when :answered then @closers.delete(next_event)
      end
    end

    def serve(lane, request)
      lane.request = request
      @handler.call(request)
    rescue Exception => e # rubocop:disable Lint/RescueException -- the edge: one request's fault ends with it
      raise if e.is_a?(SignalException)

      failed(e, request)
    ensure
      lane.clear
    end

    def complete(lane, id, value)
      receiver = @pending.delete(id)
      case receiver
      when nil then nil
      when Fiber then resume(receiver, value)
      else call(lane, receiver, receiver.request, value)
      end
    end

    def call(lane, callable, request, *arguments)
      lane.request = request
      callable.call(*arguments)
    rescue Exception => e # rubocop:disable Lint/RescueException -- the edge: one callback's fault is reported
      raise if e.is_a?(SignalException) || e.is_a?(SystemExit)

      failed(e, request)
    ensure
      lane.clear
    end

    def close(lane, request_id)
      @closers.delete(request_id)&.each { |closer| call(lane, closer, nil) }
      Array(@waiting[request_id]).each do |fiber|
        # One tick each: the lane that resumes a fiber is not the one that goes on with the loop.
        next_tick(-> { disconnect(fiber, request_id) }, nil)
      end
    end

    def disconnect(fiber, request_id)
      waiting = @waiting[request_id]
      return unless fiber.equal?(waiting) || (waiting.is_a?(Array) && waiting.include?(fiber))

      resume(fiber, DisconnectedError.new("the client closed its connection"))
    end

    # Parked fibers get to run their ensure blocks before the loop is left.
    def cancel_parked
      fibers = @pending.values.grep(Fiber) | @waiting.values.flatten
      fibers.each { |fiber| fiber.transfer(CancelledError.new("the dispatcher stopped")) if fiber.alive? }
    end

    def next_lane
      @idle.pop || Lane.new(self)
    end

    @instance = new
  end
end
