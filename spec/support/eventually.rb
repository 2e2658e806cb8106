# frozen_string_literal: true

module Support
  # Waiting for something that another thread or process does.
  module Eventually
    # Calls the block until it gives a true value, which is returned; fails the example when `within` seconds pass.
    def eventually(within: 5)
      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + relaxed(within)
      loop do
        value = yield
        return value if value
        raise "did not happen within #{within} s" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

        Thread.pass
        sleep 0.005
      end
    end

    # @return [Numeric] a time limit, twenty times as long when the collector runs at every allocation
    def relaxed(seconds)
      ENV["FASTR_GC"] == "stress" ? seconds * 20 : seconds
    end

    def elapsed
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      yield
      Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
    end
  end
end
