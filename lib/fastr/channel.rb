# frozen_string_literal: true

module Fastr
  # Hands messages to every subscriber, in order, on the reactor. Safe from any thread.
  #
  # A message pushed on the reactor's thread is delivered before {#push} returns. One pushed elsewhere is queued; any
  # number of messages that wait cost the reactor one wake.
  # @example
  #   channel = Fastr::Reactor::Channel.new
  #   id = channel.subscribe { |message| puts message }
  #   channel << "hello"
  #   channel.unsubscribe(id)
  class Channel
    # A block and the request whose code subscribed it: what it raises is that request's fault, not the pusher's.
    Subscriber = Struct.new(:callable, :request)
    private_constant :Subscriber

    def initialize
      @subscribers = {}
      @queue = []
      @scheduled = false
      @last_id = 0
      @version = 0
    end

    # @return [Integer] how many blocks are subscribed
    def num_subscribers
      @subscribers.size
    end

    # @overload subscribe(&block)
    #   @yieldparam message [Object]
    # @overload subscribe(object, method_name)
    # @return [Integer] the subscription, for {#unsubscribe}
    def subscribe(*arguments, &block)
      subscriber = Subscriber.new(Callback.from(*arguments, &block), Dispatcher.current_request)
      id = (@last_id += 1)
      change { |subscribers| subscribers[id] = subscriber }
      id
    end

    # @param id [Integer]
    # @return [void]
    def unsubscribe(id)
      change { |subscribers| subscribers.delete(id) }
      nil
    end

    # @param messages [Array<Object>] delivered one after the other
    # @return [void]
    def push(*messages)
      return deliver(messages) if @queue.empty? && Dispatcher.on_dispatcher?

      @queue.concat(messages)
      return if @scheduled

      @scheduled = true
      Dispatcher.instance.next_tick(self, nil)
    end
    alias << push

    # Subscribes for one message only.
    # @yieldparam message [Object]
    # @return [Integer]
    def pop(*arguments, &block)
      callable = Callback.from(*arguments, &block)
      id = subscribe do |message|
        unsubscribe(id)
        callable.call(message)
      end
    end

    # The reactor asks for the queued messages to be delivered.
    # @api private
    def call
      # First the flag, then the queue: a message that is pushed meanwhile asks again.
      @scheduled = false
      deliver(@queue.shift(@queue.size))
    end

    private

    # A new Hash each time: a delivery that runs meanwhile keeps the one it began with. If another thread was faster,
    # the change is made to what it made. Two Integers are compared without a call, so that no thread can come between
    # the comparison and what follows from it; a lock could not be taken in `trap`.
    def change
      loop do
        version = @version
        after = @subscribers.dup
        yield after
        next unless @version == version

        @version = version + 1
        return @subscribers = after
      end
    end

    def deliver(messages)
      messages.each do |message|
        @subscribers.each_value do |subscriber|
          Dispatcher.instance.isolate(subscriber.request) { subscriber.callable.call(message) }
        end
      end
    end
  end
end
