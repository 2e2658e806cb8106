# frozen_string_literal: true

# Owns that several fibers or threads that need the same thing at the same time ask the database once: one works, the
# others wait for it. Refuses to share across transactions: what one transaction sees another must not, and waiting for
# each other could hold both up.

module AsyncRecord
  module Associations
    # Work that is done once at a time.
    module Sharing
      LOCK = Mutex.new
      # Whose work it is, and what the others wait for.
      Gate = Struct.new(:fiber, :queue)
      @running = {}
      private_constant :LOCK, :Gate

      class << self
        # Does the work, or waits while someone else does it. The caller looks afterwards whether it has what it needs.
        # Work that comes back to itself (from a callback) does not wait for itself.
        #
        # @param source [Object] what the work belongs to
        # @param name [Symbol]
        # @yield the work
        # @return [void]
        def run(source, name, database, &work)
          key = [source.__id__, name, Context[database].__id__]
          gate = Gate.new(Fiber.current, Thread::Queue.new)
          other = LOCK.synchronize { @running[key] || (@running[key] = gate) && nil }
          return lead(key, gate, &work) unless other

          other.fiber.equal?(gate.fiber) ? yield : other.queue.pop
        end

        private

        def lead(key, gate)
          yield
        ensure
          LOCK.synchronize { @running.delete(key) }
          gate.queue.close
        end
      end
    end
  end
end
