# frozen_string_literal: true

module Fastr
  # Goes through a list with callbacks, so many items at once: `EM::Iterator`. The block says when an item is done.
  #
  # It refuses nothing but a second answer for one item; a block that never answers never ends the iteration.
  # @example
  #   Fastr::Reactor::Iterator.new(urls, 10).map(
  #     proc { |url, turn| fetch(url) { |body| turn.return(body) } },
  #     proc { |bodies| puts bodies.size }
  #   )
  class Iterator
    # One item's turn, handed to the block beside the item.
    class Turn
      # @api private
      def initialize(iterator, &finish)
        @iterator = iterator
        @finish = finish
      end

      # The item is done.
      # @return [void]
      def next
        self.return(nil)
      end

      # The item is done, with this value for {Iterator#map} or {Iterator#inject}.
      # @return [void]
      def return(value)
        raise ReactorError, "this item is done already: call `next` or `return` once" unless @finish

        finish = @finish
        @finish = nil
        finish.call(value)
      end

      # @return [Integer] how many items are worked on at once
      def concurrency
        @iterator.concurrency
      end
    end

    # @return [Integer] how many items are worked on at once
    attr_reader :concurrency

    # @param list [#to_a, #call] the items, or what gives one after the other and nil at the end
    # @param concurrency [Integer]
    def initialize(list, concurrency = 1)
      unless list.respond_to?(:to_a) || list.respond_to?(:call)
        raise ArgumentError, "give a list, or a proc that gives one item after the other"
      end

      @list = list
      self.concurrency = concurrency
    end

    # @param number [Integer] holds from now on
    def concurrency=(number)
      raise ArgumentError, "concurrency must be greater than zero, not #{number.inspect}" unless number.positive?

      @concurrency = number
      work if @each
    end

    # Calls a block with every item, in a fiber that may wait; `after` is called when all are done.
    # @param foreach [#call, nil] instead of a block
    # @param after [#call, nil]
    # @yieldparam item [Object]
    # @yieldparam turn [Turn] its `next` has to be called
    # @return [void]
    def each(foreach = nil, after = nil, &block)
      block = Callback.from(foreach, &block)
      go_through(after) { |item, turn| perform(block, turn, item) }
    end

    # Like {each}; `after` gets the values in the order of the items.
    # @yieldparam item [Object]
    # @yieldparam turn [Turn] its `return` has to be called
    # @return [void]
    def map(foreach = nil, after = nil, &block)
      block = Callback.from(foreach, &block)
      values = []
      last = -1
      go_through(-> { after&.call(values) }) do |item, turn|
        index = (last += 1)
        perform(block, Turn.new(self) { |value| store(values, index, value, turn) }, item)
      end
    end

    # Like {each}, with a value handed from item to item. Items worked on at once all see the same value, and the last
    # one that is done wins: keep the concurrency at 1 unless that is meant.
    # @yieldparam value [Object]
    # @yieldparam item [Object]
    # @yieldparam turn [Turn] its `return` has to be called, with the next value
    # @return [void]
    def inject(value, foreach = nil, after = nil, &block)
      block = Callback.from(foreach, &block)
      go_through(-> { after&.call(value) }) do |item, turn|
        done = Turn.new(self) do |result|
          value = result
          turn.next
        end
        perform(block, done, value, item)
      end
    end

    private

    def go_through(after, &each)
      raise ReactorError, "this iteration ran already: make an Iterator for each" if @each

      @each = each
      @after = after
      @active = 0
      @items = @list.respond_to?(:call) ? nil : @list.to_a
      @position = 0
      work
    end

    # What the block is given beside the item says when it is done.
    def perform(block, turn, *arguments)
      block.call(*arguments, turn)
    end

    def store(values, index, value, turn)
      values[index] = value
      turn.next
    end

    # In ticks: items that are done at once must not pile up on the stack, and one that waits must not hold up others.
    def work
      Reactor.next_tick { start_items }
    end

    def start_items
      while @active < @concurrency && !@finished
        item, more = next_item
        return finish unless more

        start_item(item)
      end
    end

    def start_item(item)
      @active += 1
      turn = Turn.new(self) { finished_item }
      Reactor.next_tick { @each.call(item, turn) }
    end

    def finished_item
      @active -= 1
      work
    end

    def finish
      return if @active.positive? || @finished

      @finished = true
      @after&.call
    end

    def next_item
      return [@items[@position], (@position += 1) <= @items.size] if @items

      item = @list.call unless @ended
      @ended = item.nil?
      [item, !@ended]
    end
  end
end
