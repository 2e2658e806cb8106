# frozen_string_literal: true

module Fastr
  # A block that is called once, later, unless it is cancelled.
  class Timer
    # @return [Request, nil] the request whose code made the timer
    attr_reader :request

    # @param seconds [Numeric] how long to wait
    # @yield on the reactor
    def initialize(seconds, callback = nil, &block)
      @callback = Callback.from(callback, &block)
      @dispatcher = Dispatcher.instance
      @request = @dispatcher.current_request
      @id = @dispatcher.after(seconds, self)
    end

    # @return [void]
    def cancel
      id = @id
      @id = nil
      return unless id

      Native.cancel(id) if @dispatcher.forget(id)
    end

    # The time has come.
    # @api private
    def call(_value)
      @id = nil
      @callback.call
    end
  end

  # A block that is called again and again, on the grid of its interval: a late call does not move the next one.
  class PeriodicTimer
    # @return [Numeric] seconds between calls; a new value holds from the next call on
    attr_accessor :interval
    # @return [Request, nil] the request whose code made the timer
    attr_reader :request

    # @param interval [Numeric] seconds
    # @yield on the reactor
    def initialize(interval, callback = nil, &block)
      @callback = Callback.from(callback, &block)
      @interval = interval
      @dispatcher = Dispatcher.instance
      @request = @dispatcher.current_request
      @due = now + interval
      arm
    end

    # @return [void]
    def cancel
      @cancelled = true
      id = @id
      Native.cancel(id) if id && @dispatcher.forget(id)
    end

    # The time has come.
    # @api private
    def call(_value)
      @callback.call
    ensure
      advance unless @cancelled
    end

    private

    # Calls that were missed altogether are not made up for; the next one is on the grid again.
    def advance
      late = now - @due
      steps = @interval.positive? ? [late.fdiv(@interval).floor, 0].max : 0
      @due += @interval * (steps + 1)
      arm
    end

    def arm
      @id = @dispatcher.after([@due - now, 0].max, self)
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
