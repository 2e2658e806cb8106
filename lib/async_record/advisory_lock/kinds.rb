# frozen_string_literal: true

# Owns what locks by name are on each kind of database.

module AsyncRecord
  class AdvisoryLock
    # pg_advisory_xact_lock: freed with its transaction.
    class PostgreSQL < AdvisoryLock
      private

      def locked_within(transaction)
        acquire(transaction)
        keep_until_end(transaction) { nil } # the database frees it
        yield
      end

      def acquire(transaction)
        case @wait
        when nil then ask(transaction, "SELECT pg_advisory_xact_lock($1)")
        when 0 then ask(transaction, "SELECT pg_try_advisory_xact_lock($1)") == [true] || raise(busy)
        else transaction.savepoint { acquire_in_time(transaction) }
        end
      end

      # The server's own limit, for this one statement.
      def acquire_in_time(transaction)
        before = ask(transaction, "SELECT current_setting('lock_timeout')", []).first
        limit(transaction, "#{(@wait * 1000).ceil}ms")
        ask(transaction, "SELECT pg_advisory_xact_lock($1)")
        limit(transaction, before)
      rescue LockTimeout
        raise busy
      end

      def limit(transaction, value)
        ask(transaction, "SELECT set_config('lock_timeout', $1, true)", [value])
      end

      # PostgreSQL's names are numbers of 64 bits.
      def ask(transaction, sql, binds = [Digest::SHA256.digest(@name).unpack1("q>")])
        @database.await(sql, binds, transaction: transaction).row(0)
      end

      def release(_holder)
        nil
      end
    end

    # GET_LOCK: freed by the connection that has it, whatever becomes of transactions.
    class MySQL < AdvisoryLock
      # GET_LOCK knows no "for ever" that MySQL and MariaDB agree on.
      FOR_EVER = 31_536_000
      LONGEST_NAME = 64
      private_constant :FOR_EVER, :LONGEST_NAME

      private

      # Freed before the commit it would let others see the old state, so it cannot be on the transaction's connection.
      def locked_within(transaction)
        free = held_beside
        keep_until_end(transaction, &free)
        yield
      end

      # @return [Proc] that frees it
      def held_beside
        holder = Transaction.begin(@database)
        beat = Transaction::Heart.new(holder)
        acquire(holder)
        kept = true
        lambda do
          beat.stop
          free(holder)
        end
      ensure
        beat&.stop unless kept
        holder&.rollback unless kept
      end

      def acquire(holder)
        got = @database.await("SELECT GET_LOCK(?, ?)", [full_name, @wait || FOR_EVER], transaction: holder)
        raise busy unless got.row(0) == [1]
      end

      def release(holder)
        @database.await("SELECT RELEASE_LOCK(?)", [full_name], transaction: holder)
      end

      # The server's locks are shared by all of its databases.
      def full_name
        name = "#{@database.url[%r{[^/]/([^/?]+)(?:\?|\z)}, 1]}/#{@name}"
        name.bytesize > LONGEST_NAME ? Digest::SHA256.hexdigest(name) : name
      end
    end

    # SQLite: a turn within this process.
    class InProcess < AdvisoryLock
      # Those that somebody has or waits for.
      class Turns
        def initialize
          @turns = {}
          @mutex = Mutex.new
        end

        # @param wait [Numeric, nil]
        # @return [Proc] that ends the turn
        # @raise [LockTimeout]
        def wait(key, wait)
          turn, = entry = @mutex.synchronize { (@turns[key] ||= [Turn.new, 0]).tap { |found| found[1] += 1 } }
          leave = turn.wait(wait)
          lambda do
            leave.call
            forget(key, entry)
          end
        ensure
          forget(key, entry) unless leave
        end

        # @return [Integer] names in use
        def size
          @turns.size
        end

        private

        def forget(key, entry)
          @mutex.synchronize { @turns.delete(key) if (entry[1] -= 1).zero? }
        end
      end

      TURNS = Turns.new

      private

      def locked_beside
        free = wait
        yield
      ensure
        free&.call
      end

      def locked_within(transaction)
        keep_until_end(transaction, &wait)
        yield
      end

      def wait
        TURNS.wait([@database.url, @name], @wait)
      rescue Turn::TooLate
        raise busy
      end
    end
  end
  private_constant :AdvisoryLock
end
