# frozen_string_literal: true

require_relative "dispatcher"

module Fastr
  # The result of one pending operation, and the three ways to wait for it: a block, an await in a fiber, an await on
  # any other thread. The block that submits the operation gets the sink to submit it with.
  class Completion
    # Wakes a waiting fiber with an error when its time is up.
    Expiry = Struct.new(:dispatcher, :fiber, :limit, :request) do
      def call(_value)
        dispatcher.resume(fiber, TimeoutError.new("the operation took longer than #{limit} s"))
      end
    end
    private_constant :Expiry

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
        completion.submitted(yield(completion.id))
        completion
      end

      private

      def park(dispatcher, limit)
        fiber = Fiber.current
        id = dispatcher.register(fiber)
        expiry = expire(dispatcher, fiber, limit) if limit
        yield id
        dispatcher.park
      ensure
        # Still entered: something other than the result woke the fiber, or it never parked.
        Native.cancel(id) if id && dispatcher.forget(id)
        Native.cancel(expiry) if expiry && dispatcher.forget(expiry)
      end

      def expire(dispatcher, fiber, limit)
        id = dispatcher.register(Expiry.new(dispatcher, fiber, limit, nil))
        Native.timer(id, limit)
        id
      end

      def wait_in_thread(limit)
        waiter = Waiter.new
        yield waiter
        waiter.wait(limit)
      ensure
        Native.cancel(waiter.id)
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

    # Waits for the result, as {Completion.await} does.
    # @param limit [Numeric, nil] seconds
    # @return [Object]
    def await(limit: nil)
      return outcome unless pending?

      waiting = self.class.await(limit: limit) { |sink| (@waiters ||= []) << sink } if @dispatcher.parkable?
      waiting = await_in_thread(limit) unless @dispatcher.parkable?
      waiting.outcome
    end

    # Asks the operation to stop; it then ends with {CancelledError}.
    # @return [self]
    def cancel
      Native.cancel(@id) if pending?
      self
    end

    # Cancels the operation if it takes longer; it then ends with {TimeoutError}.
    # @param seconds [Numeric]
    # @return [self]
    def timeout(seconds)
      timer = Completion.start { |sink| Native.timer(sink, seconds) }
      timer.callback { expire(seconds) }
      settled { timer.cancel }
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

    # @api private
    def submitted(_handle)
      self
    end

    # The value, or the error raised.
    # @api private
    def outcome
      raise @value if @state == :failed

      @value
    end

    private

    def await_in_thread(limit)
      queue = Thread::Queue.new
      settled { queue.push(self) }
      queue.pop(*(limit ? [timeout: limit] : [])) || raise(TimeoutError, "the operation took longer than #{limit} s")
    end

    def expire(seconds)
      return unless pending? && @dispatcher.forget(@id)

      Native.cancel(@id)
      settle(:failed, TimeoutError.new("the operation took longer than #{seconds} s"))
    end

    def add(list, state, block)
      if pending?
        list << block
      elsif @state == state
        @dispatcher.next_tick(-> { block.call(@value) }, @request)
      end
      self
    end

    def settled(&block)
      pending? ? (@settled ||= []) << block : block.call
    end

    def settle(state, value)
      @state = state
      @value = value
      @settled&.each(&:call)
      @waiters&.each { |id| @dispatcher.deliver(id, self) }
      list = state == :succeeded ? @callbacks : @errbacks
      raise value if state == :failed && list.empty? && @waiters.nil? && @settled.nil?

      list.each { |block| block.call(value) }
    end
  end
end
