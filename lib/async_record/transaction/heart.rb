# frozen_string_literal: true

# Owns keeping a transaction in use that only exists to hold something: a lock by name, the rows of a test. The driver
# would take it for forgotten. Refuses to be noticed: what it asks has no result.

module AsyncRecord
  class Transaction
    # Asks something now and then.
    class Heart
      # @return [nil] a timer belongs to no request
      # @api private
      attr_reader :request

      # @param transaction [Transaction]
      def initialize(transaction)
        @transaction = transaction
        @dispatcher = Fastr::Dispatcher.instance
        @dispatcher.ensure_running
        arm
      end

      # @return [void]
      def stop
        Fastr::Native.cancel(@timer) if @dispatcher.forget(@timer)
      end

      # The time has come.
      # @api private
      def call(_value = nil)
        @transaction.query("SELECT 1") { arm }.on_error { nil } # it is over
      end

      private

      def arm
        @timer = @dispatcher.after(@transaction.database.idle_limit / 3.0, self)
      end
    end
  end
end
