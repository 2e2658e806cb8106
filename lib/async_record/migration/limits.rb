# frozen_string_literal: true

# Owns how long a migration may wait for locks and run. A change that waits for a table lets every later statement on
# that table wait behind it: better it gives up soon and is run again.

module AsyncRecord
  class Migration
    # Timeouts of one migration on one database.
    class Limits
      # @param database [Database]
      # @param lock [Numeric, nil] seconds
      # @param statement [Numeric, nil] seconds
      def initialize(database, lock:, statement:)
        @database = database
        @lock = lock
        @statement = statement
      end

      # Runs a block in a transaction with the limits, or in the one that is open.
      # @return [Object]
      def within
        Transaction.run(@database, **begin_options) do
          before.each { |sql| @database.script(sql) }
          begin
            yield
          ensure
            restore
          end
        end
      end

      # @return [Array<String>] what sets the limits in a transaction
      def before
        case @database.dialect.name
        when :postgresql
          [*("SET LOCAL lock_timeout = '#{milliseconds(@lock)}ms'" if @lock),
           *("SET LOCAL statement_timeout = '#{milliseconds(@statement)}ms'" if @statement)]
        when :mysql
          [*("SET SESSION lock_wait_timeout = #{[@lock.ceil, 1].max}" if @lock), *mariadb_statement]
        else []
        end
      end

      # @return [Numeric, nil] where the database has no limit for a statement, ours
      def client_timeout
        @statement if @database.dialect.name == :sqlite
      end

      private

      # MySQL's variables belong to the connection, which goes back to the pool. When a failure has ended the
      # transaction they cannot be reached any more, so the connections are replaced.
      def restore
        return unless @database.dialect.name == :mysql && (@lock || @statement)
        return @database.close unless Context[@database]&.open?

        @database.script("SET SESSION lock_wait_timeout = DEFAULT") if @lock
        @database.script("SET SESSION max_statement_time = DEFAULT") if @statement
      rescue Error
        @database.close
      end

      # SQLite locks the whole database when the transaction begins.
      def begin_options
        @database.dialect.name == :sqlite && @lock ? { timeout: @lock } : {}
      end

      def mariadb_statement
        return [] unless @statement

        return ["SET SESSION max_statement_time = #{Float(@statement)}"] if @database.server_version.match?(/mariadb/i)

        raise MigrationError, "MySQL has no statement_timeout for changes of the schema (MariaDB has); leave it out"
      end

      def milliseconds(seconds)
        [(seconds * 1000).ceil, 1].max
      end
    end
    private_constant :Limits
  end
end
