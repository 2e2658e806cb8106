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
    def initialize
      @subscribers = {}
      @queue = []
      @last_id = 0
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
      callable = Callback.from(*arguments, &block)
      id = (@last_id += 1)
      # A new Hash each time: a delivery that runs meanwhile keeps the one it began with.
      @subscribers = @subscribers.merge(id => callable)
      id
    end

    # @param id [Integer]
    # @return [void]
    def unsubscribe(id)
      @subscribers = @subscribers.reject { |key, _| key == id }
    end

    # @param messages [Array<Object>] delivered one after the other
    # @return [void]
    def push(*messages)
      return deliver(messages) if @queue.empty? && Dispatcher.on_dispatcher?

      wake = @queue.empty?
      @queue.concat(messages)
      Dispatcher.instance.next_tick(self, nil) if wake
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
      messages = @queue
      @queue = []
      deliver(messages)
    end

    private

    def deliver(messages)
      messages.each do |message|
        @subscribers.each_value { |callable| callable.call(message) }
      end
    end
  end
end
