# frozen_string_literal: true

# Owns that several fibers or threads that need the same thing at the same time ask the database once: one works, the
# others wait for it. Refuses to share across transactions: what one transaction sees another must not, and waiting for
# each other could hold both up.

module AsyncRecord
  module Associations
    # Work that is done once at a time.
    module Sharing
      LOCK = Mutex.new
      @running = {}
      private_constant :LOCK

      class << self
        # Does the work, or waits while someone else does it. The caller looks afterwards whether it has what it needs.
        #
        # @param source [Object] what the work belongs to
        # @param name [Symbol]
        # @yield the work
        # @return [void]
        def run(source, name, database)
          key = [source.__id__, name, Context[database].__id__]
          gate = enter(key)
          return gate.pop if gate

          begin
            yield
          ensure
            LOCK.synchronize { @running.delete(key) }.close
          end
        end

        private

        # @return [Thread::Queue, nil] that ends when the other's work does; nil for who has to work
        def enter(key)
          LOCK.synchronize do
            running = @running[key]
            @running[key] = Thread::Queue.new unless running
            running
          end
        end
      end
    end
  end
end
