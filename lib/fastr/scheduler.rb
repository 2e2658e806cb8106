# frozen_string_literal: true

module Fastr
  # The Fiber::Scheduler of the dispatcher's thread: makes Ruby's own waiting (sleep, sockets, Queue, Mutex,
  # Thread#join, Process.wait, DNS, Timeout)
  # park the fiber instead of the thread. It owns no queue and no timer; all waiting is a
  # completion of the reactor. io_read and io_write stay with Ruby: their contract differs between Ruby versions.
  # @api private
  class Scheduler
    # Resumes a fiber from the inbox, once, if it is still blocked the way it was when the wake was asked for.
    Unblock = Struct.new(:scheduler, :fiber, :id) do
      # The dispatcher's turn.
      def call
        scheduler.wake(fiber, id)
      end
    end
    private_constant :Unblock

    # Raises in a fiber when its time is up.
    Expiry = Struct.new(:dispatcher, :fiber, :exception, :message, :scheduler) do
      attr_writer :id

      # @return [nil] what it raises goes to the fiber, whose request is its own business
      def request
        nil
      end

      # The time is up.
      def call(_value)
        return unless fiber.alive? && Fiber.scheduler.equal?(scheduler)

        dispatcher.raise_in(fiber, exception, message)
      rescue FiberError
        # The fiber waits for another one that it resumed itself; it is asked again when that may have ended.
        @id = dispatcher.after(0.005, self)
      end

      # The block ended in time.
      def cancel
        Native.cancel(@id) if dispatcher.forget(@id)
      end
    end
    private_constant :Expiry

    # @param dispatcher [Dispatcher]
    def initialize(dispatcher)
      @dispatcher = dispatcher
      @blocked = {}.compare_by_identity
    end

    # Parks until {#unblock}; false when the time limit came first.
    def block(_blocker, limit = nil)
      fiber = Fiber.current
      id = @blocked[fiber] = @dispatcher.register(fiber)
      Native.timer(id, limit) if limit
      value = @dispatcher.park
      raise value if value.is_a?(Exception)

      value ? true : false
    ensure
      @blocked.delete(fiber)
      Native.cancel(id) if @dispatcher.forget(id) || limit
    end

    # Called from any thread, also in the moment before the fiber blocks: then there is no id yet.
    #
    # Before Ruby 3.4 an exception that another thread has sent may be raised here, such as the IOError of a stream that
    # is being closed; the fiber that waits for it to be closed would then never be woken.
    def unblock(_blocker, fiber)
      @dispatcher.next_tick(Unblock.new(self, fiber, @blocked[fiber]), nil)
    rescue Exception # rubocop:disable Lint/RescueException -- it is not ours: passed on once the work is done
      @dispatcher.next_tick(Unblock.new(self, fiber, @blocked[fiber]), nil)
      raise
    end

    # Resumes a blocked fiber; one that went on meanwhile is left alone.
    def wake(fiber, asked)
      id = @blocked[fiber]
      return if id.nil? || (asked && asked != id)

      @blocked.delete(fiber)
      @dispatcher.resume(fiber, true) if @dispatcher.forget(id)
    end

    # Can be woken early: ConditionVariable#wait with a time limit sleeps here.
    def kernel_sleep(duration = nil)
      block(:sleep, duration)
      true
    end

    # Parks until a descriptor is ready; false when the time limit came first.
    # @return [Integer, false] the bits of `IO::READABLE` and its like
    def io_wait(io, events, limit = nil)
      ready = Completion.await { |sink| Native.wait_fd(sink, io.fileno, events, limit) }
      ready.zero? ? false : ready
    end

    # Parks until a child process ends.
    # @return [Process::Status, nil]
    def process_wait(pid, flags)
      Thread.new { Process::Status.wait(pid, flags) }.value
    end

    # Ruby asks for it since 3.3; before that IO.select blocks the thread whatever a scheduler offers.
    if (RUBY_VERSION.split(".").map(&:to_i) <=> [3, 3]) >= 0
      # Parks until one of the descriptors is ready.
      # @return [Array<Array<IO>>, nil]
      def io_select(*arguments)
        Thread.new { IO.select(*arguments) }.value
      end
    end

    # Looks a host name up.
    # @return [Array<String>] addresses; empty when there are none
    def address_resolve(host)
      Completion.await { |sink| Native.resolve(sink, host.split("%", 2).first) }
    rescue Fastr::Error
      [] # Ruby makes its own SocketError of an empty list
    end

    # Runs a block for at most so many seconds, then raises in its fiber: `Timeout.timeout`.
    def timeout_after(duration, exception, message)
      expiry = Expiry.new(@dispatcher, Fiber.current, exception, message, self)
      expiry.id = @dispatcher.after(duration, expiry)
      yield duration
    ensure
      expiry&.cancel
    end

    # Runs the block at once in a lane of its own; the caller goes on when that waits for the first time.
    def fiber(&block)
      caller = Fiber.current
      id = @dispatcher.register(caller)
      @dispatcher.next_tick(-> { @dispatcher.resume(caller, nil) if @dispatcher.forget(id) }, nil)
      @dispatcher.start_lane(block)
    end

    # Ruby calls this when the thread ends. What was waiting got its chance before.
    def close
      nil
    end

    # Ruby 3.1 asks schedulers without `close` for it; kept for tools that call it.
    def run
      nil
    end
  end
end
