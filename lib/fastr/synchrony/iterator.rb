# frozen_string_literal: true

module Fastr
  module Reactor
    module Synchrony
      # An {Fastr::Iterator} whose methods wait and return. The first error that a block raises ends the iteration and
      # is raised at the caller.
      # @example
      #   EM::Synchrony::Iterator.new(1..3, 2).map { |number, turn| EM.add_timer(0.1) { turn.return(number * 2) } }
      class Iterator < Fastr::Iterator
        # @return [self]
        def each(...)
          super
          self
        end

        # @return [Array<Object>] in the order of the items
        def map(foreach = nil, after = nil, &block)
          values = nil
          super(foreach, ->(result) { values = result }, &block)
          after&.call(values)
          values
        end

        # @return [Object]
        def inject(value, foreach = nil, after = nil, &block)
          result = nil
          super(value, foreach, ->(last) { result = last }, &block)
          after&.call(result)
          result
        end

        private

        def go_through(after)
          error = Synchrony.until_called do |done|
            super(-> { done.call(nil) }) do |item, turn|
              yield item, turn
            rescue StandardError => error
              @finished = true
              done.call(error)
            end
          end
          raise error if error

          after&.call
        end
      end

      # Goes through a list with waiting code, so many items at once, each in a fiber of its own: an item is done when
      # the block ends, and its value is what the block returns.
      # @example
      #   EM::Synchrony::FiberIterator.new([1, 2, 3], 2).each { |id| puts User.find(id).name }
      class FiberIterator < Iterator
        private

        def perform(block, turn, *arguments)
          turn.return(block.call(*arguments))
        end
      end
    end
  end
end
