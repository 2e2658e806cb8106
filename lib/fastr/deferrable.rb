# frozen_string_literal: true

module Fastr
  # Something that succeeds or fails later, once or again: callbacks and errbacks in the order they were added, late
  # ones called at once. Include it in a class, or use {DefaultDeferrable}.
  module Deferrable
    # @yieldparam arguments [Array] what {#succeed} was given
    # @return [self]
    def callback(callable = nil, &block)
      react(:succeeded, :failed, callable || block)
    end

    # @yieldparam arguments [Array] what {#fail} was given
    # @return [self]
    def errback(callable = nil, &block)
      react(:failed, :succeeded, callable || block)
    end

    # @return [void]
    def cancel_callback(block)
      (@deferred_blocks ||= []).reject! { |state, added| state == :succeeded && added.equal?(block) }
    end

    # @return [void]
    def cancel_errback(block)
      (@deferred_blocks ||= []).reject! { |state, added| state == :failed && added.equal?(block) }
    end

    # @param arguments [Array] for the callbacks
    # @return [self]
    def succeed(*arguments)
      set_deferred_status(:succeeded, *arguments)
    end
    alias set_deferred_success succeed

    # @param arguments [Array] for the errbacks
    # @return [self]
    def fail(*arguments)
      set_deferred_status(:failed, *arguments)
    end
    alias set_deferred_failure fail

    # Blocks run on the reactor: called from another thread while it runs, this happens there, a moment later.
    # @param status [:succeeded, :failed, :unknown] the last makes it pending again
    # @return [self]
    def set_deferred_status(status, *arguments)
      if Reactor.reactor_running? && !Reactor.reactor_thread?
        Reactor.next_tick { set_deferred_status(status, *arguments) }
        return self
      end
      cancel_timeout
      @deferred_status = status
      @deferred_arguments = arguments
      call_deferred_blocks unless status == :unknown
      self
    end

    # Fails if nothing else happens for so many seconds.
    # @return [self]
    def timeout(seconds, *arguments)
      cancel_timeout
      @deferred_timer = Timer.new(seconds) { self.fail(*arguments) }
      self
    end

    # @return [void]
    def cancel_timeout
      timer = @deferred_timer
      @deferred_timer = nil
      timer&.cancel
    end

    private

    # One that raises does not keep the others from running.
    def call_deferred_blocks
      blocks = @deferred_blocks
      while @deferred_status != :unknown && (state, block = blocks&.shift)
        block.call(*@deferred_arguments) if state == @deferred_status
      end
    ensure
      call_deferred_blocks unless blocks.nil? || blocks.empty? || @deferred_status == :unknown
    end

    def react(state, other, block)
      return self if block.nil?

      case @deferred_status ||= :unknown
      when state then block.call(*@deferred_arguments)
      when other then nil
      else (@deferred_blocks ||= []) << [state, block]
      end
      self
    end
  end

  # A {Deferrable} and nothing else.
  class DefaultDeferrable
    include Deferrable
  end
end
