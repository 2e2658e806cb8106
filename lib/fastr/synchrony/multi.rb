# frozen_string_literal: true

module Fastr
  module Reactor
    module Synchrony
      # Several deferrables at once, under names.
      # @example
      #   multi = EM::Synchrony::Multi.new
      #   multi.add(:user, User.async.find(1))
      #   multi.add(:posts, Post.async.count)
      #   multi.perform.responses[:callback].keys   # => [:user, :posts]
      class Multi
        include Deferrable

        # @return [Hash{Symbol => Object}] the deferrables by name
        attr_reader :requests
        # @return [Hash] `:callback` and `:errback`: the deferrables that succeeded and that failed, by name
        attr_reader :responses

        def initialize
          @requests = {}
          @responses = { callback: {}, errback: {} }
        end

        # @param name [Object]
        # @param deferrable [#callback, #errback]
        # @raise [ArgumentError] the name is taken
        # @return [void]
        def add(name, deferrable)
          raise ArgumentError, "there is #{name.inspect} already: give each its own name" if @requests.key?(name)

          @requests[name] = deferrable
          deferrable.callback { settled(:callback, name) }
          deferrable.errback { settled(:errback, name) }
        end

        # @return [Boolean]
        def finished?
          @responses.sum { |_, settled| settled.size } == @requests.size
        end

        # Waits for all.
        # @return [self]
        def perform
          Synchrony.sync(self) unless finished?
          self
        end

        private

        def settled(state, name)
          @responses[state][name] = @requests[name]
          succeed(self) if finished?
        end
      end
    end
  end
end
