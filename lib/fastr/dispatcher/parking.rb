# frozen_string_literal: true

module Fastr
  class Dispatcher
    # Waiting: which fiber or block an id means, and how a fiber is left and gone on with. It owns no loop; whichever
    # lane is next goes on with that.
    module Parking
      # Lanes kept for reuse; more are made when more wait at once, and end when they are not needed any more.
      IDLE_LANES = 256
      private_constant :IDLE_LANES

      # The receiver of an operation that is being submitted by a fiber that will wait for it.
      SUBMITTED = Object.new.freeze

      # Enters a receiver and gives the completion id to submit an operation under.
      # @param receiver [Fiber, #call, SUBMITTED] what the result is for
      # @return [Integer]
      def register(receiver)
        id = (@last_id += 1)
        @pending[id] = receiver
        id
      end

      # Strikes a receiver off, so that a late result finds nobody.
      # @return [Fiber, #call, nil]
      def forget(id)
        @early.delete(id) unless @early.empty?
        @pending.delete(id)
      end

      # Parks the calling fiber for the result of an operation that was registered with {SUBMITTED}.
      # @return [Object] the result
      def await(id)
        return @early.delete(id) if @early.key?(id)

        @pending[id] = Fiber.current
        park
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
      # @raise [FiberError] the fiber cannot go on: it ended, or waits for one that it resumed itself
      def resume(fiber, value)
        return aside { fiber.transfer(value) } if @idle.size < IDLE_LANES || @successor || !Fiber.current.is_a?(Lane)

        # Enough lanes lie idle: this one ends. Were it only left, it would live on in the frames of those it resumed.
        @successor = [fiber, value]
      end

      # Raises in a parked fiber.
      # @return [void]
      # @raise [FiberError] as {#resume}
      def raise_in(fiber, *exception)
        aside { fiber.raise(*exception) }
      end

      # Hands a value to a receiver as if its operation had completed with it.
      # @return [void]
      def deliver(id, value)
        next_tick(-> { hand_over(id, value) }, nil)
      end

      # Does so at once, on the dispatcher's thread; what is neither a fiber nor unknown is left to the block.
      # @yieldparam receiver [#call]
      # @return [void]
      def hand_over(id, value)
        receiver = @pending.delete(id)
        case receiver
        when nil then nil
        when Fiber then resume(receiver, value)
        when SUBMITTED then @early[id] = value
        else yield receiver
        end
      end

      # Calls a receiver with nil after so many seconds.
      # @return [Integer] its completion id
      def after(seconds, receiver)
        id = register(receiver)
        Native.timer(id, seconds)
        id
      end

      # Leaves the calling fiber for a new lane that begins with a block.
      # @return [Lane] once the calling fiber is resumed
      # @api private
      def start_lane(block)
        lane = Lane.new(self, block, **Lane::INHERITING)
        value = lane.transfer
        raise value if value.is_a?(Exception)

        lane
      end

      private

      # Parks a fiber where the client's leaving finds it. Most requests have one fiber that waits; then no Array is
      # made.
      def wait_for(request_id, fiber)
        others = @waiting[request_id]
        @waiting[request_id] = others ? [*others, fiber] : fiber
        next_lane.transfer
      ensure
        left = @waiting.delete(request_id)
        others = left.is_a?(Array) ? left - [fiber] : []
        @waiting[request_id] = others.size == 1 ? others.first : others unless others.empty?
      end

      # Leaves the calling lane at the side, ready for other work, while the block switches to another fiber.
      def aside
        @idle.push(lane = Fiber.current)
        yield
      rescue FiberError
        @idle.delete(lane) # the switch did not happen
        raise
      end

      def disconnect(fiber, request_id)
        waiting = @waiting[request_id]
        return unless fiber.equal?(waiting) || (waiting.is_a?(Array) && waiting.include?(fiber))

        resume(fiber, DisconnectedError.new("the client closed its connection"))
      end

      # Parked fibers get to run their ensure blocks before the loop is left.
      def cancel_parked
        fibers = @pending.values.grep(Fiber) | @waiting.values.flatten
        fibers.each do |fiber|
          fiber.transfer(CancelledError.new("the dispatcher stopped")) if fiber.alive?
        rescue FiberError
          next # it waits for another one, which is told itself
        end
      end

      # Neither does a query with a block get lost: its error path hears that no result will come.
      def cancel_asked
        asked = @pending.values.select { |receiver| receiver.respond_to?(:dispatcher_stopped) }
        asked.each do |receiver|
          receiver.dispatcher_stopped
        rescue StandardError => error
          failed(error, receiver.request)
        end
      end

      def next_lane
        @idle.pop || Lane.new(self)
      end
    end
    private_constant :Parking
  end
end
