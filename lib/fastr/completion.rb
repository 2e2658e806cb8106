# frozen_string_literal: true

require_relative "dispatcher"

module Fastr
  # The result of one pending operation, and the three ways to wait for it: a block, an await in a fiber, an await on
  # any other thread. The block that submits the operation gets the sink to submit it with.
  class Completion
    # Wakes a waiting fiber with an error when its time is up.
    Expiry = Struct.new(:dispatcher, :id, :limit, :request) do
      def call(_value)
        Native.cancel(id)
        dispatcher.hand_over(id, TimeoutError.new("the operation took longer than #{limit} s"))
      end
    end

    # Reports an error that nobody has asked for by now.
    Unclaimed = Struct.new(:completion, :request) do
      def call(_value = nil)
        completion.outcome unless completion.claimed?
      end
    end

    # Seconds that another thread has between starting an operation and adding its errback.
    GRACE = 0.25
    private_constant :Expiry, :Unclaimed, :GRACE

    class << self
      # Submits an operation and waits for its result. In a fiber of the dispatcher only the fiber waits; on any other
      # thread the thread does, without the GVL.
      # @param limit [Numeric, nil] seconds after which {TimeoutError} is raised and the operation cancelled
      # @yieldparam sink [Integer, Waiter] what native operations take as their first argument
      # @return [Object] the result
      # @raise [StandardError] what the operation ended with
      # @example
      #   Fastr::Completion.await(limit: 2) { |sink| Fastr::Native.resolve(sink, "example.org") }
      def await(limit: nil, &submit)
        dispatcher = Dispatcher.instance
        return wait_in_thread(limit, &submit) unless dispatcher.parkable?

        value = park(dispatcher, limit, &submit)
        raise value if value.is_a?(Exception)

        value
      end

      # Submits an operation and returns at once.
      # @yieldparam sink [Integer]
      # @return [Completion]
      # @example
      #   Fastr::Completion.start { |sink| Fastr::Native.timer(sink, 1.5) }.callback { puts "1.5 s later" }
      def start
        completion = new
        submitted = false
        yield completion.id
        submitted = true
        completion
      ensure
        completion&.withdraw unless submitted
      end

      private

      def park(dispatcher, limit)
        id = dispatcher.register(Dispatcher::SUBMITTED)
        expiry = expire(dispatcher, id, limit) if limit
        yield id
        dispatcher.await(id)
      ensure
        # Still entered: something other than the result woke the fiber, or it never parked.
        Native.cancel(id) if id && dispatcher.forget(id)
        Native.cancel(expiry) if expiry && dispatcher.forget(expiry)
      end

      def expire(dispatcher, id, limit)
        dispatcher.after(limit, Expiry.new(dispatcher, id, limit, nil))
      end

      def wait_in_thread(limit)
        waiter = Waiter.new
        yield waiter
        waiter.wait(limit)
      ensure
        Native.cancel(waiter.id) if waiter # an interrupt may strike before there is one
      end
    end

    # @return [Integer] the completion id
    attr_reader :id
    # @return [Request, nil] the request that the operation belongs to
    attr_reader :request

    # @api private
    def initialize
      @dispatcher = Dispatcher.instance
      @dispatcher.ensure_running
      @foreign = !@dispatcher.on_thread?
      @request = @dispatcher.current_request
      @state = :pending
      @id = @dispatcher.register(self)
      @callbacks = []
      @errbacks = []
    end

    # Calls the block with the result, on the dispatcher.
    # @yieldparam value [Object]
    # @return [self]
    def callback(&block)
      add(@callbacks, :succeeded, block)
    end
    alias on_success callback

    # Calls the block with the error, on the dispatcher. Without one an error goes to the request that the operation
    # belongs to, or to the reactor's error handler: it never vanishes.
    # @yieldparam error [StandardError]
    # @return [self]
    def errback(&block)
      add(@errbacks, :failed, block)
    end
    alias on_error errback

    # Waits for the result, as {Completion.await} does. Any number of fibers and threads can.
    # @param limit [Numeric, nil] seconds
    # @return [Object]
    def await(limit: nil)
      @claimed = true
      self.class.await(limit: limit) { |sink| notify(sink) } if pending?
      outcome
    end

    # Asks the operation to stop; it then ends with {CancelledError}.
    # @return [self]
    def cancel
      @claimed = true
      Native.cancel(@id) if pending?
      self
    end

    # Cancels the operation if it takes longer; it then ends with {TimeoutError}.
    # @param seconds [Numeric]
    # @return [self]
    def timeout(seconds)
      timer = Timer.new(seconds) { expire(seconds) }
      when_settled { timer.cancel }
      self
    end

    # @return [Boolean] whether the result is still out
    def pending?
      @state == :pending
    end

    # The dispatcher hands the result over.
    # @api private
    def call(value)
      settle(value.is_a?(Exception) ? :failed : :succeeded, value)
    end

    # The value, or the error raised.
    # @api private
    def outcome
      raise @value if @state == :failed

      @value
    end

    # Whether somebody asked for the error.
    # @api private
    def claimed?
      @claimed
    end

    # Its operation was never submitted.
    # @api private
    def withdraw
      @dispatcher.forget(@id)
    end

    private

    # State and lists belong to the dispatcher's thread: others send what they want done there.
    def on_dispatcher(&block)
      @dispatcher.on_thread? ? yield : @dispatcher.next_tick(block, nil)
    end

    def expire(seconds)
      return unless pending? && @dispatcher.forget(@id)

      Native.cancel(@id)
      settle(:failed, TimeoutError.new("the operation took longer than #{seconds} s"))
    end

    def add(list, state, block)
      @claimed = true if state == :failed
      on_dispatcher do
        if pending?
          list << block
        elsif @state == state
          @dispatcher.next_tick(-> { block.call(@value) }, @request)
        end
      end
      self
    end

    # Completes the sink of somebody who waits.
    def notify(sink)
      when_settled { sink.is_a?(Integer) ? @dispatcher.deliver(sink, nil) : Native.timer(sink, 0) }
    end

    def when_settled(&block)
      on_dispatcher { pending? ? (@settled ||= []) << block : block.call }
    end

    def settle(state, value)
      @value = value
      @state = state
      @settled&.each(&:call)
      list = state == :succeeded ? @callbacks : @errbacks
      list.each { |block| @dispatcher.isolate(@request) { block.call(value) } }
      unclaimed if state == :failed && !@claimed
    end

    def unclaimed
      report = Unclaimed.new(self, @request)
      @foreign ? @dispatcher.after(GRACE, report) : report.call
    end
  end
end
