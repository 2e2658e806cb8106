# frozen_string_literal: true

# Owns what belongs to the running fiber: its open transactions and the scope of a class method called on a relation.
# A thread with a fiber scheduler keeps it in a fiber-local; any other thread in a thread variable, which its
# Enumerators share. Ruby's own fiber storage is not used: a fiber that the dispatcher makes while another one waits
# would inherit that one's transaction. Work started in a new fiber takes a copy along.
# Refuses to be shared: a context is replaced, never changed, so that a copy stays what it was. Only its notes are one
# object for all that came of one fiber: who wrote there reads what was written, also in callbacks.

require "fastr/completion"
require "fastr/fork"

module AsyncRecord
  # The running fiber's values.
  module Context
    KEY = :async_record
    EMPTY = {}.freeze
    NOTES = :notes
    private_constant :KEY, :EMPTY, :NOTES

    @noting = false
    Fastr::Fork.in_child { leave_parent }

    class << self
      # @return [Hash] frozen
      def current
        (Fiber.scheduler ? Thread.current[KEY] : Thread.current.thread_variable_get(KEY)) || EMPTY
      end

      # @param key [Object] a database or a model
      # @return [Object, nil]
      def [](key)
        current[key]
      end

      # @param values [Hash] as {current} gives them
      # @return [Boolean] whether nothing there concerns a statement on a database without replicas; whose promise it is
      #   for and what was noted do not
      def plain?(values)
        values.empty? || (values.size - (values.key?(Pending) ? 1 : 0) - (values.key?(NOTES) ? 1 : 0)).zero?
      end

      # @yield with one value set
      # @return [Object] what the block returns
      def with(key, value, &block)
        within(current.merge(key => value).freeze, &block)
      end

      # @yield without any values: what is called back later belongs to no transaction but the one it names
      # @return [Object] what the block returns
      def outside(&block)
        notes = @noting && current[NOTES]
        within(notes ? { NOTES => notes }.freeze : EMPTY, &block)
      end

      # @yield with another fiber's values
      # @return [Object] what the block returns
      def within(values)
        before = current
        replace(values)
        yield
      ensure
        begin
          restore(before) if before # none: interrupted before anything was set
          done = true
        ensure
          restore(before) if before && !done # interrupted amid that: the thread would keep a transaction that is over
        end
      end

      # From now on contexts may have notes; programs without replicas do not pay for them.
      # @return [void]
      def allow_notes
        @noting = true
      end

      # @return [Hash, nil] what was noted by the work that this fiber belongs to
      def notes
        current[NOTES]
      end

      # @return [Hash] the same, begun here if need be
      def notes!
        notes || {}.tap { |notes| replace(current.merge(NOTES => notes).freeze) }
      end

      # @return [Hash] for work in another fiber; notes made there are this fiber's too
      def handed_on
        notes! if @noting
        current
      end

      # In a forked child: what was opened, locked and waited for is the parent's. What the program said about its
      # statements (scopes, tags, limits) holds on.
      # @return [void]
      def leave_parent
        replace(current.select { |key, _| key.is_a?(Module) && !key.equal?(Pending) }.freeze)
      end

      private

      # What was set is taken back, what was noted stays.
      def restore(before)
        notes = @noting && current[NOTES]
        replace(notes && !before.key?(NOTES) ? before.merge(NOTES => notes).freeze : before)
      end

      # No value at all is left behind where there is nothing to remember.
      def replace(values)
        values = nil if values.empty?
        Fiber.scheduler ? Thread.current[KEY] = values : Thread.current.thread_variable_set(KEY, values)
      end
    end
  end
  private_constant :Context
end
