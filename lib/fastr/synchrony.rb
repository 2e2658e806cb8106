# frozen_string_literal: true

# Owns em-synchrony's words: callbacks turned into waiting code. Loaded by `require "em-synchrony"`. Every block of the
# reactor runs in a fiber that may wait, so little is left to do: `sleep`, sockets and AsyncRecord wait by themselves.
# Refuses to change Ruby's own classes, as the original did for `Kernel#sleep`.

require_relative "reactor"
require_relative "iterator"

module Fastr
  module Reactor # rubocop:disable Style/Documentation -- documented in reactor.rb
    # @see Fastr::Iterator
    Iterator = Fastr::Iterator unless const_defined?(:Iterator, false)

    class << self
      # Runs the reactor with a block that may wait. On a running reactor the block begins at once, in a fiber of its
      # own, and the caller goes on when it waits for the first time.
      # @example
      #   EM.synchrony do
      #     puts User.find(1).name
      #     EM.stop
      #   end
      # @param block [#call, nil] instead of a block
      # @param tail [#call, nil] called after the reactor stopped
      # @return [void]
      def synchrony(block = nil, tail = nil, &body)
        body = Callback.from(block, &body)
        return run(body, tail) unless reactor_running?

        add_shutdown_hook { tail.call } if tail
        reactor_thread? ? Fiber.scheduler.fiber(&body) : next_tick(body)
        nil
      end
    end

    # Waiting for what has callbacks. In a fiber of the reactor only the fiber waits; elsewhere the thread does.
    module Synchrony
      # Ruby's own: they park the fiber.
      module Thread
        Mutex = ::Thread::Mutex
        ConditionVariable = ::Thread::ConditionVariable
      end

      class << self
        # Waits until a deferrable succeeded or failed.
        # @example
        #   result = EM::Synchrony.sync(deferrable)
        # @param deferrable [#callback]
        # @return [Object] what it succeeded or failed with; an Array when that were several values. It does not raise
        def sync(deferrable)
          until_called do |done|
            deferrable.callback(&done)
            deferrable.errback(&done) if deferrable.respond_to?(:errback)
          end
        end

        # @param seconds [Numeric]
        # @return [void]
        def sleep(seconds)
          Kernel.sleep(seconds)
        end

        # Runs an operation that may block on a pool of threads, and waits for it.
        # @return [Object] its value
        # @raise what the operation raised
        def defer(operation = nil, &block)
          value, error = until_called do |done|
            Reactor.defer(Callback.from(operation, &block), ->(result) { done.call(result, nil) },
                          ->(failure) { done.call(nil, failure) })
          end
          raise error if error

          value
        end

        # Runs a command and waits for its end.
        # @return [Array(String, Process::Status)]
        def system(command, *arguments)
          until_called { |done| Reactor.system(command, *arguments, &done) }
        end

        # @return [String, nil] the next line of the standard input
        def gets
          $stdin.gets
        end

        # @see Fastr::Reactor.add_timer
        # @return [Integer]
        def add_timer(seconds, &block)
          Reactor.add_timer(seconds, &block)
        end

        # @see Fastr::Reactor.add_periodic_timer
        # @return [Integer]
        def add_periodic_timer(interval, &block)
          Reactor.add_periodic_timer(interval, &block)
        end

        # @see Fastr::Reactor.next_tick
        # @return [void]
        def next_tick(&block)
          Reactor.next_tick(&block)
        end

        # Waits until the proc handed to the block is called; later calls are ignored.
        # @yieldparam done [Proc]
        # @return [Object] what it was called with; an Array when that were several values
        # @api private
        def until_called
          result = nil
          Completion.await do |sink|
            woken = false
            yield(lambda do |*values|
              next if woken

              woken = true
              result = values.size > 1 ? values : values.first
              wake(sink)
            end)
          end
          result
        end

        private

        # The sink of a fiber is a number, that of a thread is woken by whatever completes on the reactor.
        def wake(sink)
          sink.is_a?(Integer) ? Dispatcher.instance.deliver(sink, nil) : Native.timer(sink, 0)
        end
      end
    end

    # em-synchrony's own abbreviation.
    S = Synchrony
  end
end

require_relative "synchrony/iterator"
require_relative "synchrony/multi"
require_relative "synchrony/connection_pool"
