# frozen_string_literal: true

# Owns the telling of what the database did: subscribers get one event per statement. Costs nothing while nobody
# listens. Refuses to change the course of a query: a subscriber that raises is reported, not obeyed.

module AsyncRecord
  # One statement that was run.
  #
  # `duration_ms` is the wall time from handing the statement to the driver until its result is back, so it holds the
  # wait for a connection, the database's work and the decoding.
  Event = Struct.new(:sql, :binds, :duration_ms, :rows, :error, :database, keyword_init: true) do
    # @return [Boolean]
    def failed?
      !error.nil?
    end
  end

  # The list of subscribers and the measuring.
  module Instrumentation
    KINDS = [:query].freeze
    private_constant :KINDS

    @subscribers = [].freeze

    class << self
      # @return [Boolean]
      def active?
        !@subscribers.empty?
      end

      # @return [Proc] to be given to {unsubscribe}
      def subscribe(kind, &block)
        known = KINDS.join(", ")
        raise ArgumentError, "there are events of kind #{known}, not #{kind.inspect}" unless KINDS.include?(kind)
        raise ArgumentError, "subscribe needs a block" unless block

        @subscribers = [*@subscribers, block].freeze
        block
      end

      # @return [void]
      def unsubscribe(block)
        @subscribers = @subscribers.reject { |one| one.equal?(block) }.freeze
      end

      # @yieldreturn [Object] the driver's result
      # @return [Object]
      def measure(database, sql, binds)
        started = now
        result = yield
      rescue StandardError => error
        publish(database, sql, binds, started, error: error)
        raise
      else
        publish(database, sql, binds, started, rows: size_of(result))
        result
      end

      private

      def publish(database, sql, binds, started, rows: 0, error: nil)
        event = Event.new(sql: sql, binds: binds, duration_ms: (now - started) * 1000, rows: rows, error: error,
                          database: database).freeze
        @subscribers.each { |subscriber| notify(subscriber, event) }
      end

      def notify(subscriber, event)
        subscriber.call(event)
      rescue StandardError => error
        warn "AsyncRecord: a subscriber raised #{error.class}: #{error.message}"
      end

      def size_of(result)
        case result
        when Array then result.first
        when String then nil
        else result.size
        end
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
  private_constant :Instrumentation
end
