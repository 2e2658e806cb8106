# frozen_string_literal: true

module Fastr
  class Dispatcher
    # What `Thread.current.kill` does in code that is served: it ends the request, not the thread that all requests
    # share. It owns nothing else: another thread can end this one, and so can code that no server runs. `Thread.exit`
    # and `Thread.kill` never ask the thread; what they end is told by {Running} and replaced by {Runner}.
    module SparedThread
      # Ends one piece of work. No StandardError: as with a kill, `rescue => error` does not keep it; `ensure` runs.
      class Killed < Exception # rubocop:disable Lint/InheritException -- see above
        def initialize(message = "the code ended its thread; only its request ends")
          super
        end
      end

      # @return [Thread]
      # @raise [Killed] where a server's code asks for it on its own thread
      def kill
        spared? ? raise(Killed) : super
      end

      # @see #kill
      def exit
        spared? ? raise(Killed) : super
      end

      # @see #kill
      def terminate
        spared? ? raise(Killed) : super
      end

      private

      def spared?
        dispatcher = Dispatcher.instance
        equal?(Thread.current) && dispatcher.on_thread? && !dispatcher.handler.nil?
      end
    end
    private_constant :SparedThread
  end
end
