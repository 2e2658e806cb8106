# frozen_string_literal: true

# Owns what belongs to the running fiber: its open transactions and the scope of a class method called on a relation.
# Since Ruby 3.2 that is fiber storage, which inner fibers (Enumerators) inherit. Ruby 3.1 has none: there a plain
# thread uses a thread variable, which its Enumerators share, and a thread with a fiber scheduler a fiber-local, which
# they do not; a transaction is handed to them with `using(tx)`. Work started in a new fiber takes a copy along.
# Refuses to be shared: a context is replaced, never changed, so that a copy stays what it was.

module AsyncRecord
  # The running fiber's values.
  module Context
    KEY = :async_record
    EMPTY = {}.freeze
    private_constant :KEY, :EMPTY

    class << self
      if Fiber.respond_to?(:[])
        def current
          Fiber[KEY] || EMPTY
        end

        def replace(values)
          Fiber[KEY] = values
        end
      else
        def current
          (Fiber.scheduler ? Thread.current[KEY] : Thread.current.thread_variable_get(KEY)) || EMPTY
        end

        # No value at all is left behind where there is nothing to remember.
        def replace(values)
          values = nil if values.empty?
          Fiber.scheduler ? Thread.current[KEY] = values : Thread.current.thread_variable_set(KEY, values)
        end
      end

      # @param key [Object] a database or a model
      # @return [Object, nil]
      def [](key)
        current[key]
      end

      # @yield with one value set
      # @return [Object] what the block returns
      def with(key, value)
        before = current
        replace(before.merge(key => value).freeze)
        yield
      ensure
        replace(before)
      end

      # @yield without any values: what is called back later belongs to no transaction but the one it names
      # @return [Object] what the block returns
      def outside(&block)
        within(EMPTY, &block)
      end

      # @yield with another fiber's values
      # @return [Object] what the block returns
      def within(values)
        before = current
        replace(values)
        yield
      ensure
        replace(before)
      end
    end
  end
  private_constant :Context
end
