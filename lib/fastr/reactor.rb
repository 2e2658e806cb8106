# frozen_string_literal: true

require_relative "native_loader"
require_relative "completion"
require_relative "callback"
require_relative "callable"
require_relative "task_pool"
require_relative "channel"
require_relative "deferrable"
require_relative "timer"

module Fastr
  # The reactor for any program, with the words of EventMachine. Everything here is an event on the one queue, so all
  # of it can be called from any thread and in a trap handler; blocks always run on the thread that called {run}.
  #
  # @example an ordinary program with the reactor in a thread
  #   Thread.new { Fastr::Reactor.run }
  #   Fastr::Reactor.add_periodic_timer(1) { puts "tick" }
  #   trap("INT") { Fastr::Reactor.stop }
  module Reactor
    # @see Fastr::Channel
    Channel = Fastr::Channel
    # @see Fastr::Timer
    Timer = Fastr::Timer
    # @see Fastr::PeriodicTimer
    PeriodicTimer = Fastr::PeriodicTimer
    # @see Fastr::Deferrable
    Deferrable = Fastr::Deferrable
    # @see Fastr::DefaultDeferrable
    DefaultDeferrable = Fastr::DefaultDeferrable

    @timers = {}
    @last_timer = 0
    @deferred = []
    @shutdown_hooks = []

    class << self
      # Runs the reactor on the calling thread until {stop}. Called on a running reactor it calls the block at once.
      # @param block [#call, nil] called first, on the reactor
      # @param tail [#call, nil] called after the reactor stopped
      # @raise whatever a callback raised, unless there is an {error_handler}
      # @return [void]
      def run(block = nil, tail = nil, &body)
        body ||= block
        dispatcher = Dispatcher.instance
        return body&.call if reactor_running? || dispatcher.on_thread?

        keep_signals_alive
        dispatcher.run(body)
      ensure
        unless dispatcher.nil? || dispatcher.running?
          finish_run
          tail&.call
        end
      end

      # Ends {run} after the callback that runs now.
      # @return [void]
      def stop
        Dispatcher.instance.stop
      end
      alias stop_event_loop stop

      # @return [Boolean] whether {run} is active in this process
      def reactor_running?
        dispatcher = Dispatcher.instance
        dispatcher.running? && !dispatcher.background?
      end

      # @return [Thread, nil] the thread that {run} was called on
      def reactor_thread
        Dispatcher.instance.thread
      end

      # @return [Boolean] whether the caller is on the reactor's thread
      def reactor_thread?
        Dispatcher.on_dispatcher?
      end

      # Calls a block on the reactor, after what is queued already. Ticks queued before {run} wait for it.
      # @return [void]
      def next_tick(callable = nil, &block)
        Dispatcher.instance.next_tick(Callback.from(callable, &block))
        nil
      end

      # Calls a block at once on the reactor's thread, and with the next tick elsewhere.
      # @return [void]
      def schedule(callable = nil, &block)
        callback = Callback.from(callable, &block)
        reactor_thread? ? callback.call : Dispatcher.instance.next_tick(callback)
        nil
      end

      # Calls a block once, after so many seconds.
      # @return [Integer] the timer, for {cancel_timer}
      def add_timer(seconds, callable = nil, &block)
        callback = Callback.from(callable, &block)
        id = (@last_timer += 1)
        @timers[id] = Fastr::Timer.new(seconds) do
          @timers.delete(id)
          callback.call
        end
        id
      end

      # Calls a block every so many seconds.
      # @return [Integer] the timer, for {cancel_timer}
      def add_periodic_timer(interval, callable = nil, &block)
        id = (@last_timer += 1)
        @timers[id] = Fastr::PeriodicTimer.new(interval, Callback.from(callable, &block))
        id
      end

      # Cancels a timer; one that is over or unknown is left alone.
      # @param timer [Integer, Timer, PeriodicTimer]
      # @return [void]
      def cancel_timer(timer)
        timer = @timers.delete(timer) if timer.is_a?(Integer)
        timer&.cancel
        nil
      end

      # Runs an operation that may block on a pool of threads, then a callback with its value on the reactor.
      # @param operation [#call] may also be given as the block
      # @param callback [#call, nil] gets the value
      # @param errback [#call, nil] gets the exception; without it the exception goes the way of a callback's
      # @return [void]
      def defer(operation = nil, callback = nil, errback = nil, &block)
        operation = Callback.from(operation || block)
        @deferred.push(operation)
        schedule { submit(operation, callback, errback) }
      end

      # @return [Boolean] whether no deferred operation runs or waits and every result was delivered
      def defers_finished?
        @deferred.empty?
      end

      # Calls a block with every exception that a callback raises; the reactor then goes on.
      # @yieldparam error [Exception]
      # @return [void]
      def error_handler(callable = nil, &block)
        Dispatcher.instance.error_handler = callable || block
      end

      # Calls a block after {run} ended; the last added first.
      # @return [void]
      def add_shutdown_hook(&block)
        @shutdown_hooks.unshift(block)
        nil
      end

      # Settings of EventMachine that mean nothing here, accepted so that old programs run.
      # @return [Boolean]
      def epoll?
        true
      end

      # @return [Boolean]
      def kqueue?
        false
      end

      # @return [Boolean] false: there is no TLS yet
      def ssl?
        false
      end

      # @return [Boolean]
      def epoll
        true
      end
      alias kqueue epoll

      # @return [void]
      def epoll=(_wanted); end
      alias kqueue= epoll=

      # In a forked child: timers, deferred operations and hooks are the parent's.
      # @api private
      def after_fork
        @timers = {}
        @deferred = []
        @shutdown_hooks = []
      end

      private

      def submit(operation, callback, errback)
        TaskPool.shared.submit(operation) do |value, error|
          @deferred.pop
          next callback&.call(value) if error.nil?

          errback ? errback.call(error) : raise(error)
        end
      end

      # Ruby loses signals when the thread that waits without the GVL is the only one that ever lived.
      def keep_signals_alive
        return unless Thread.current.equal?(Thread.main)
        return if @keeper&.alive?

        @keeper = Thread.new { sleep }
        @keeper.name = "fastr-signals"
      end

      def finish_run
        hooks = @shutdown_hooks
        @shutdown_hooks = []
        hooks.each(&:call)
        @timers.each_value(&:cancel)
        @timers.clear
        @deferred.clear
      end
    end
  end
end
