# frozen_string_literal: true

# Owns the telling of what the database did: subscribers get one event per statement and one per transaction. Costs
# nothing while nobody listens. Refuses to change the course of a query: a subscriber that raises is reported, not
# obeyed.

require_relative "event"

# Who wants to be told.
module AsyncRecord
  class << self
    # Tells about every statement, or about every transaction when it has ended.
    #
    # @example
    #   AsyncRecord.subscribe(:query) { |event| puts "#{event.db_ms.round(1)} ms  #{event.sql}" }
    #   AsyncRecord.subscribe(:transaction) { |event| puts "#{event.outcome} #{event.caller_line}" }
    # @param kind [Symbol] :query or :transaction
    # @yieldparam event [Event, TransactionEvent]
    # @return [Proc] for {unsubscribe}
    def subscribe(kind, &block)
      Instrumentation.subscribe(kind, &block)
    end

    # @param subscription [Proc]
    # @return [void]
    def unsubscribe(subscription)
      Instrumentation.unsubscribe(subscription)
    end
  end

  # The lists of subscribers and the measuring.
  module Instrumentation
    KINDS = %i[query transaction].freeze
    private_constant :KINDS

    @subscribers = KINDS.to_h { |kind| [kind, [].freeze] }.freeze
    @active = false
    @lock = Mutex.new

    class << self
      # @return [Boolean] whether somebody listens to statements
      def active?
        @active
      end

      # @return [Proc] to be given to {unsubscribe}
      def subscribe(kind, &block)
        known = KINDS.join(", ")
        raise ArgumentError, "there are events of kind #{known}, not #{kind.inspect}" unless KINDS.include?(kind)
        raise ArgumentError, "subscribe needs a block" unless block

        change { |subscribers| subscribers.merge(kind => [*subscribers[kind], block].freeze) }
        block
      end

      # @return [void]
      def unsubscribe(block)
        change { |all| all.transform_values { |list| list.reject { |one| one.equal?(block) }.freeze } }
      end

      # @yieldparam options [Hash] the driver's, with the means to take the time
      # @yieldreturn [Object] the driver's result
      # @return [Object]
      def measure(database, sql, binds, options, transaction)
        started = now
        timings = timings()
        facts = { database: database, sql: sql, timings: timings, transaction_id: transaction&.id }
        result = yield(timings ? options.merge(timings: timings) : options)
      rescue StandardError => error
        publish(started, binds, **facts, rows: 0, error: error)
        raise
      else
        publish(started, binds, **facts, rows: size_of(result), error: nil)
        result
      end

      # @param transaction [Transaction]
      # @param reason [String, nil] why it was not its owner who ended it
      # @return [void]
      def transaction_ended(transaction, began_at, reason)
        listeners = @subscribers[:transaction]
        return if listeners.empty?

        event = TransactionEvent.new(id: transaction.id, outcome: transaction.state, reason: reason,
                                     duration_ms: (now - began_at) * 1000, caller_line: transaction.opened_at,
                                     database: transaction.database, request_id: request_id).freeze
        listeners.each { |listener| notify(listener, event) }
      end

      private

      # A new Hash each time, so that whoever reads needs no lock.
      def change
        @lock.synchronize do
          @subscribers = yield(@subscribers).freeze
          @active = !@subscribers[:query].empty?
        end
      end

      # What the driver notes its times in, if it can.
      def timings
        Timings.new if AsyncRecord.const_defined?(:Timings, false)
      end

      def publish(started, binds, **facts)
        event = Event.new(binds: Binds.shown(binds), duration_ms: (now - started) * 1000, request_id: request_id,
                          caller_line: Caller.line, **facts)
        @subscribers[:query].each { |subscriber| notify(subscriber, event) }
      end

      def notify(subscriber, event)
        subscriber.call(event)
      rescue StandardError => error
        QueryLog.warn("a subscriber raised #{error.class}: #{error.message}")
      end

      def request_id
        Fastr::Dispatcher.current_request&.id
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
