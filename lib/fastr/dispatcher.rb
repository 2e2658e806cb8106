# frozen_string_literal: true

require_relative "errors"
require_relative "lane"
require_relative "scheduler"
require_relative "dispatcher/parking"
require_relative "dispatcher/rest"
require_relative "dispatcher/spared_thread"
require_relative "dispatcher/running"

module Fastr
  # The dispatcher: the one thread that runs the program's Ruby code. It takes events off the queue, hands requests
  # to the handler, resumes fibers and calls callbacks. It never waits for anything but the queue.
  #
  # The event loop is not bound to one fiber. It runs in whichever {Lane} is current; when the code in that lane
  # parks, another lane goes on with the loop, and a lane whose result arrives becomes the loop again once its work
  # is done. Work that never waits therefore costs no switch at all.
  class Dispatcher
    include Parking
    include Running

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
        instance.on_closed(request, block)
        nil
      end

      # In a forked child: the parent's fibers, callbacks and reactor are the parent's. What was set stays set, and the
      # ids go on where the parent was, so that an inherited timer never cancels one of the child's.
      # @api private
      def after_fork
        @instance = instance.abandon
      end
    end

    # @param last_id [Integer] the last completion id given out in this process
    def initialize(last_id = 0)
      @last_id = last_id
      @running = false
      @stopping = false
      forget_everything
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
    # the GVL: it needs no Mutex, so it works in a trap handler. Whoever pushes looks at the flag afterwards, and the
    # loop takes the flag down before it looks at the inbox: so a push is seen by the one or the other.
    # @param callable [#call]
    # @return [void]
    def next_tick(callable, request = current_request)
      @inbox.push(callable, request)
      return if @ticked

      @ticked = true
      Native.tick
    end

    # Runs a block whose fault must not take others' turn: the fault is reported in a tick of its own.
    # @param request [Request, nil] what the block belongs to
    # @return [void]
    def isolate(request)
      yield
    rescue StandardError, ScriptError, SystemStackError => error
      next_tick(-> { raise error }, request)
    end

    # @see Dispatcher.on_closed
    # @param closer [#call]
    def on_closed(request, closer)
      return next_tick(closer, nil) if request.left?

      id = request.id
      others = @closers[id]
      @closers[id] = others ? [*listed(others), closer] : closer
      request.watch
    end

    # The loop, run by each lane between its works.
    # @api private
    def loop_in(lane, work = nil)
      call(lane, work, nil) if work
      until @stopping || @successor
        if !@ticks.empty? then call(lane, @ticks.shift, @ticks.shift)
        elsif (event = @batch[@position])
          @position += 1
          event.is_a?(Request) ? serve(lane, event) : take(lane, event)
        else next_batch
        end
      end
      # A lane that was told its successor ends here, and the first fiber goes on with that.
      @root.transfer if @stopping
    rescue Exception => error # rubocop:disable Lint/RescueException -- Thread#raise and exit: the caller of run gets them
      @failure = error
      @stopping = true # what is parked still runs its ensure blocks, and must not go on with the loop
      @root.transfer
    end

    # Reports an exception that user code raised outside of a request's own error handling.
    # @api private
    def failed(error, request)
      return report(error) unless request && @handler.respond_to?(:failed)

      begin
        @handler.failed(request, error)
      rescue StandardError => error
        report(error)
      end
    end

    private

    # What is alone is kept without an Array, and may look like one itself.
    def listed(entry)
      return entry if entry.is_a?(Array)

      entry.nil? ? [] : [entry]
    end

    def report(error)
      return @error_handler.call(error) if @error_handler

      @failure ||= error
      @stopping = true
    end

    # Waits for events. None may come: then something else woke the loop.
    def next_batch
      @batch = Native.wait(nil)
      @position = 0
    end

    # What follows an event in its batch. A lane that parks leaves the rest of the batch to the next one.
    def next_element
      element = @batch[@position]
      @position += 1
      element
    end

    def take(lane, event)
      case event
      when Integer then complete(lane, event, next_element)
      when :tick
        @ticked = false
        @ticks.concat(@inbox.shift(@inbox.size))
      when :closed then close(next_element)
      when :answered then @closers.delete(next_element)
      end
    end

    def serve(lane, request)
      lane.request = request
      @handler ? @handler.call(request) : request.respond(503, {}, "")
      served = true
    rescue Exception => error # rubocop:disable Lint/RescueException -- the edge: one request's fault ends with it
      served = true
      raise if ends_program?(error) && !error.is_a?(SystemExit)

      failed(error, request)
    ensure
      # Thread#kill leaves nothing to rescue.
      failed(CancelledError.new("the dispatcher's thread was killed"), request) unless served
      lane.clear
    end

    def complete(lane, id, value)
      hand_over(id, value) { |receiver| work(lane, receiver.request) { receiver.call(value) } }
    rescue FiberError => error
      failed(error, nil)
    end

    def call(lane, callable, request)
      work(lane, request) { callable.call }
    end

    def work(lane, request)
      lane.request = request
      yield
    rescue Exception => error # rubocop:disable Lint/RescueException -- the edge: one callback's fault is reported
      raise if ends_program?(error)

      failed(error, request)
    ensure
      lane.clear
    end

    # `exit` and signals are meant for the program when they reach its main thread, or a program without a server. In
    # an application that is served they are one request's fault like any other.
    def ends_program?(error)
      return false unless error.is_a?(SignalException) || error.is_a?(SystemExit)

      @handler.nil? || Thread.current.equal?(Thread.main)
    end

    # One tick each: the lane that resumes a fiber is not the one that goes on with the loop, and none keeps the others
    # from their turn.
    def close(request_id)
      listed(@closers.delete(request_id)).each { |closer| @ticks.push(closer, nil) }
      listed(@waiting[request_id]).each { |fiber| @ticks.push(-> { disconnect(fiber, request_id) }, nil) }
    end

    @instance = new
  end
end
