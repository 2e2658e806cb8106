# frozen_string_literal: true

# Owns what a database gives and must get back: an open transaction, a stream. Whoever asked may be interrupted at any
# point, a thread even between two lines of this library; from the first moment on there is somebody who gives it back.
# Refuses to know what it is.

module AsyncRecord
  # Something on loan: made first, taken within a `begin`, released in its `ensure`.
  class Held
    # Seconds for which an interrupted thread waits for what it asked: a statement that does not stop loses its
    # connection after 2.
    PATIENCE = 3
    # The same for what is not pending: its result is there already, or just on its way.
    MOMENT = 0.02
    private_constant :PATIENCE, :MOMENT

    # Waits on for what somebody asked who was interrupted; nothing interrupts this.
    #
    # @param waiter [Fastr::Waiter]
    # @yield [value] what came
    # @return [Object, nil] what the block returns; nil when nothing came
    def self.outlast(waiter)
      limit = Fastr::Native.cancel(waiter.id) ? PATIENCE : MOMENT
      Thread.handle_interrupt(Object => :never) { yield waiter.wait(limit) }
    rescue Error, Fastr::Error
      nil
    end

    # @param database [Database]
    # @yield [value] gives it back
    def initialize(database, &give_back)
      @database = database
      @give_back = give_back
    end

    # Asks for it and waits.
    #
    # @yieldparam pool [AsyncRecord::Pool]
    # @yieldparam sink [Integer, Object]
    # @return [Object]
    def take(pool = @database.pool, &submit)
      return @value = @database.complete_or_abandon(@give_back, pool, &submit) if Fastr::Dispatcher.on_dispatcher?

      @waiter = @database.waiter
      yield pool, @waiter
      # An interrupt may end the waiting, but not come between its end and the assignment.
      Thread.handle_interrupt(Object => :on_blocking) { @value = @waiter.wait(nil) }
    rescue Error
      @waiter = nil # it was answered: there is nothing
      raise
    end

    # Gives back what was taken, or came although the asking was interrupted.
    # @return [void]
    def release
      value = @value || (@waiter && self.class.outlast(@waiter, &:itself))
      @value = @waiter = nil
      @give_back.call(value) if value
    end
  end
  private_constant :Held
end
