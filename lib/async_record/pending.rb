# frozen_string_literal: true

# Owns the promise of a result: what every terminal method returns when it is given a block or called after `async`.
# The work runs as ordinary waiting code in a fiber of the dispatcher; one plain query with a block needs no fiber, its
# completion comes here by itself ({Pending.ask}). The callbacks run on the dispatcher too.
# Refuses to lose an error: what no callback and no `await` takes goes to AsyncRecord.on_error, else to the dispatcher.

module AsyncRecord
  # A result that is on its way.
  #
  # @example callbacks
  #   User.find(1) { |user| render user }.on_error { |error| fail_with error }.timeout(0.5)
  # @example promises
  #   user = User.async.find(1)
  #   user.await
  class Pending
    # Callbacks may be added and results given in any thread. One lock serves all promises: it is held for a few
    # instructions, and a lock, a list of waiters and two of callbacks for each one were half of its cost.
    LOCK = Mutex.new
    private_constant :LOCK

    # Starts work in a fiber of its own.
    #
    # @param block [Proc, nil] gets the value, and the error if it takes two arguments
    # @yieldreturn [Object] the value
    # @return [Pending]
    # @api private
    def self.spawn(block = nil, &work)
      pending = new(block)
      pending.asked_by(Asker.here) unless block
      context = Context.handed_on
      dispatcher = Fastr::Dispatcher.instance
      dispatcher.ensure_running
      dispatcher.next_tick(-> { Context.within(context) { pending.run(work) } })
      pending
    end

    # Submits one operation, on the dispatcher. Nothing waits for it: no fiber and no turn of the loop (18 µs).
    #
    # @param block [Proc, nil] as in {spawn}
    # @param asked [Asked] what is asked: its `submit` gets the sink, its `finish` makes the value of the result
    # @return [Pending]
    # @api private
    def self.ask(block, asked)
      pending = new(block)
      pending.asked_by(Asker.here) unless block
      pending.ask(asked)
      pending
    end

    # @return [Boolean] whether a callback wants the error as its second argument
    # @api private
    def self.takes_error?(block)
      return true if block.arity > 1

      parameters = block.parameters
      parameters.size > 1 && parameters.count { |kind, _| %i[req opt].include?(kind) } > 1
    end

    # The request whose code asked, for the dispatcher.
    # @return [Fastr::Request, nil]
    # @api private
    attr_reader :request

    # @api private
    def initialize(block = nil)
      @state = :waiting
      @block = block
      @detached = !block.nil?
    end

    # @param asker [AsyncRecord::Asker] the stack of whoever asked
    # @api private
    def asked_by(asker)
      @asker = asker
    end

    # @return [Array<String>] the lines that asked: the stack, or where the callback was written
    # @api private
    def origin
      written = @block&.source_location
      return ["#{written.join(":")}:in `asked here'"] if written

      frames = @asker&.frames || []
      frames.filter_map { |path, line, name| "#{path}:#{line}:in `#{name}'" unless Caller.own?(path) }
    end

    # @yieldparam value [Object] on the dispatcher, also when the result is here already
    # @return [self]
    def on_success(&block)
      state = LOCK.synchronize do
        (@on_success ||= []) << block if @state == :waiting
        @state
      end
      Fastr::Dispatcher.schedule { block.call(@result) } if state == :done
      self
    end
    alias callback on_success

    # @yieldparam error [StandardError] on the dispatcher, also when the error is here already
    # @return [self]
    def on_error(&block)
      state = LOCK.synchronize do
        (@on_error ||= []) << block if @state == :waiting
        @state
      end
      Fastr::Dispatcher.schedule { block.call(@error) } if state == :failed
      self
    end
    alias errback on_error

    # Waits for the result: parks a fiber, or sleeps a thread.
    #
    # @return [Object] the value
    # @raise [StandardError] the error
    def await
      queue = Thread::Queue.new unless settled?
      queue.pop if queue && tell(queue)
      raise @error if @state == :failed

      @result
    end
    alias value await

    # Names somebody who waits, and takes the error as `await` does.
    #
    # @param waiter [#<<] gets the promise once it is settled, in whichever thread that happens
    # @return [Boolean] false if it is settled already: then nothing is told
    # @api private
    def tell(waiter)
      LOCK.synchronize do
        return false unless @state == :waiting

        @waiters = @waiters ? [*@waiters, waiter] : [waiter]
        true
      end
    end

    # @return [StandardError, nil] what it failed with
    # @api private
    attr_reader :error

    # @return [Object, nil] what came, without waiting
    # @api private
    attr_reader :result

    # @return [Boolean]
    def settled?
      @state != :waiting
    end

    # Gives up: the running statement is stopped and the result becomes {Cancelled}.
    #
    # @return [self]
    def cancel
      @detached = false
      settle(:failed, Cancelled.new("cancelled"))
      interrupt
      self
    end

    # Fails with {QueryTimeout} unless the result comes in time.
    #
    # @param seconds [Numeric]
    # @return [self]
    def timeout(seconds)
      return self if settled?

      @timer = Fastr::Completion.start { |sink| Fastr::Native.timer(sink, seconds) }
      @timer.callback { expire(seconds) }.errback { nil } # cancelled: the result was in time
      self
    end

    # Does the work and settles.
    # @api private
    def run(work)
      return if settled?

      @work = Context.with(Pending, self) { work.call }
    rescue StandardError => error
      settle(:failed, error)
    else
      settle(:done, @work)
    end

    # @see Pending.ask
    # @api private
    def ask(asked)
      dispatcher = Fastr::Dispatcher.instance
      @asked = asked
      @request = dispatcher.current_request
      @sink = dispatcher.register(self)
      asked.submit(@sink)
      @request&.in_flight&.store(self, true)
    rescue StandardError => error
      dispatcher.forget(@sink)
      # Later, as from a fiber: whoever gets the promise may add an error path first.
      dispatcher.next_tick(-> { settle(:failed, error) })
    end

    # The dispatcher hands over the result of {Pending.ask}, as it does everything: outside of any transaction.
    # @api private
    def call(result)
      @sink = nil
      @request&.in_flight&.delete(self)
      deliver if @state == :waiting && finished(result)
    end

    # The request is over, and with it what it asked for.
    # @api private
    def client_left
      settle(:failed, Fastr::DisconnectedError.new("the client closed its connection"))
      interrupt
    end

    # Nobody is left to hand a result over.
    # @api private
    def dispatcher_stopped
      settle(:failed, Fastr::CancelledError.new("the dispatcher stopped before the result came"))
      interrupt
    end

    # @api private
    # @param sink [Integer, Object, nil] the operation the work waits for just now
    def sink=(sink)
      @sink = sink
      interrupt if sink && settled?
    end

    # @return [String]
    def inspect
      "#<AsyncRecord::Pending #{@state}>"
    end

    private

    def finished(result)
      value = @asked.finish(result)
    rescue StandardError => error
      take(:failed, error)
    else
      take(:done, value)
    end

    def expire(seconds)
      return unless settle(:failed, QueryTimeout.new("no result within #{seconds} s"))

      interrupt
    end

    # The first result stands.
    def settle(state, result)
      return false unless take(state, result)

      Fastr::Dispatcher.schedule { Context.outside { deliver } }
      true
    end

    # No callback is added and no waiter comes once the state is set, so that the lists are then read without the lock.
    def take(state, result)
      locate(result) if state == :failed
      LOCK.synchronize do
        return false unless @state == :waiting

        state == :done ? @result = result : @error = result
        @state = state
      end
      @timer&.cancel
      @waiters&.each { |waiter| waiter << self }
      true
    end

    # An error's stack begins in the reactor's thread; it goes on with the lines of whoever asked.
    def locate(error)
      error.set_backtrace(Caller.joined(error.backtrace || [], origin)) unless settled? || error.frozen?
    end

    # Callbacks run outside the lock; one that raises does not keep the others from running.
    def deliver
      done = @state == :done
      callbacks = done ? @on_success : @on_error
      return deliver_first(done, callbacks) if @block && (done || Pending.takes_error?(@block))
      return deliver_all(callbacks, done ? @result : @error) if callbacks

      unclaimed(@error) unless done || kept?
    end

    # @return [Boolean] whether somebody awaits the error, or may yet
    def kept?
      @waiters || !(@detached || @on_success)
    end

    # The block comes before the callbacks that were added later.
    def deliver_first(done, callbacks)
      done ? call_back(@block, @result) : @block.call(nil, @error)
    ensure
      deliver_all(callbacks, done ? @result : @error) if callbacks
    end

    # A block of one argument need not be looked at (three Arrays).
    def call_back(block, value)
      block.arity != 1 && Pending.takes_error?(block) ? block.call(value, nil) : block.call(value)
    end

    def deliver_all(callbacks, result)
      callbacks.shift.call(result) until callbacks.empty?
    ensure
      deliver_all(callbacks, result) unless callbacks.empty?
    end

    # A promise without callbacks keeps its error for await; one with a callback and without an error path must not,
    # since a request would wait for that callback in vain. That the client left or the reactor stopped is no error of
    # the program's.
    def unclaimed(error)
      return if error.is_a?(Fastr::CancelledError) || error.is_a?(Fastr::DisconnectedError)

      handler = AsyncRecord.error_handler
      raise error unless handler

      handler.call(error)
    end

    def interrupt
      Fastr::Native.cancel(@sink) if @sink.is_a?(Integer)
    end
  end
end
