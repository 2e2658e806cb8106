# frozen_string_literal: true

# Owns the one transaction that a test has everything run in, and the transactions within it, which are savepoints.
# These take turns, because a connection knows only nested ones. Refuses to wait for ever: a test that waits for itself
# fails.

module AsyncRecord
  # What is pinned.
  module Test
    # One database, pinned to one transaction.
    class Pin
      # Seconds to wait for another transaction of the test to end, unless the database's `pool_timeout:` is shorter.
      PATIENCE = 5
      private_constant :PATIENCE

      # @return [Transaction] what belongs to no transaction of the test's own runs in it
      attr_reader :transaction

      # @param database [Database]
      def initialize(database)
        @database = database
        @turn = Turn.new
        id = database.complete { |pool, sink| pool.begin(sink, {}) }
        @transaction = Root.new(database, id, @turn)
        @heart = Transaction::Heart.new(@transaction)
        database.pin = self
      end

      # Rolls everything back.
      # @return [void]
      def release
        @heart.stop
        @database.pin = nil
        @transaction.rollback if @transaction.open?
        @database.schema.forget if @schema_changed
      end

      # @param opened_at [String, nil]
      # @return [Transaction] a savepoint that looks like a transaction
      # @raise [PoolTimeout]
      def begin(opened_at)
        leave = @turn.wait(PATIENCE)
        @holder = opened_at
        Nested.new(@database, @transaction, leave, opened_at: opened_at).mark
      rescue Turn::TooLate
        raise PoolTimeout, "another transaction of this test has been open for #{PATIENCE} s" \
                           "#{" (since #{@holder})" if @holder}; a test has one connection, so this one waited for it"
      rescue Error
        leave&.call
        raise
      end

      # The rollback takes back what was done to tables, too.
      # @return [void]
      def changed_schema
        @schema_changed = true
      end
    end

    # The transaction around a test.
    class Root < Transaction
      GUARD = "ar_statement"
      private_constant :GUARD

      def initialize(database, id, turn)
        super(database, id)
        @turn = turn
        @guarded = database.dialect.name == :postgresql
      end

      # PostgreSQL would take nothing more after a statement that fails, and tests make statements fail.
      # @api private
      def use(reading, &block)
        return super unless @guarded && @turn.free?

        @turn.take { within_savepoint { super(reading, &block) } }
      end

      # @api private
      def struck(_error)
        nil
      end

      # Runs a statement of our own.
      # @api private
      def plainly(sql)
        database.complete { |pool, sink| pool.query(sink, sql, [], { transaction: id }) }
      end

      private

      def within_savepoint
        plainly("SAVEPOINT #{GUARD}")
        result = yield
      rescue Error
        plainly("ROLLBACK TO SAVEPOINT #{GUARD}")
        raise
      else
        plainly("RELEASE SAVEPOINT #{GUARD}")
        result
      end
    end

    # A transaction of the program under test.
    class Nested < Transaction
      NAME = "ar_test"
      private_constant :NAME

      # @param root [Root]
      # @param leave [Proc] ends the turn
      def initialize(database, root, leave, opened_at:)
        super(database, root.id, opened_at: opened_at)
        @root = root
        @leave = leave
      end

      # @return [self]
      def mark
        @root.plainly("SAVEPOINT #{NAME}")
        self
      end

      private

      # @return [nil] as {Asking#complete_surely}
      def end_natively(state, known)
        @root.plainly("ROLLBACK TO SAVEPOINT #{NAME}") if state == :rolled_back
        @root.plainly("RELEASE SAVEPOINT #{NAME}")
        known.call
        nil
      ensure
        @leave.call
      end
    end
    private_constant :Pin, :Root, :Nested
  end
end
