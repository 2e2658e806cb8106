# frozen_string_literal: true

# Owns the promise that one database is migrated by one process at a time. PostgreSQL and MySQL lock by the very number
# that Rails takes, on a connection of its own that a transaction pins; SQLite by a file beside the database. Whoever
# dies lets go: the server notices the lost connection, the system the closed file.

require "zlib"

module AsyncRecord
  class Migration
    # A lock that two migrators cannot hold at once.
    class Lock
      # What ActiveRecord multiplies with the checksum of the database's name.
      SALT = 2_053_462_845
      # Seconds between two attempts.
      INTERVAL = 0.2
      # Options of the connection that holds the lock: it does nothing for as long as the migrations take.
      IDLE = { size: 1, idle_in_transaction: 30 * 86_400 }.freeze
      # The last statement's snapshot lives until the next one is asked in the plain protocol; CREATE INDEX CONCURRENTLY
      # would wait for it.
      FORGET = "SELECT 1"
      private_constant :SALT, :INTERVAL, :IDLE, :FORGET

      # @param database [Database]
      # @param out [#puts]
      # @param wait [Numeric] seconds
      def initialize(database, out:, wait:)
        @database = database
        @out = out
        @wait = wait
      end

      # @return [Object] what the block returns
      # @raise [MigrationError] when another process keeps the lock
      def hold(&block)
        case @database.dialect.name
        when :sqlite then sqlite_path ? with_file(&block) : yield
        else with_connection(&block)
        end
      end

      private

      def attempt
        deadline = now + @wait
        until yield
          raise MigrationError, busy if now > deadline

          @told ||= @out.puts("waiting for another process that migrates this database …").nil?
          sleep(INTERVAL)
        end
      end

      def busy
        "another process has been migrating this database for #{@wait} s; wait for it, or find out what holds it: " \
          "#{holder}"
      end

      def holder
        case @database.dialect.name
        when :postgresql then "select pid from pg_locks where locktype = 'advisory'"
        when :mysql then "select is_used_lock('#{key}') is its connection's id"
        else "lsof #{lock_path}"
        end
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      # A lock that is tried does not wait inside the server: CREATE INDEX CONCURRENTLY would wait for the waiting one.
      def with_connection(&block)
        own = @database.twin(**IDLE)
        Transaction.run(own) do
          own.script("SET LOCAL idle_in_transaction_session_timeout = 0") if postgresql?
          attempt { locked?(own) }
          held(own, &block)
        end
      ensure
        own&.close
      end

      def locked?(own)
        locked = own.await(try_sql).to_a.first["locked"]
        own.script(FORGET) if postgresql?
        [true, 1].include?(locked)
      end

      # The block is no part of the lock's transaction, which belongs to another database object.
      def held(own)
        result = yield
        own.await("SELECT RELEASE_LOCK('#{key}')") unless postgresql?
        result
      rescue StandardError
        release(own) unless postgresql?
        raise
      end

      def release(own)
        own.await("SELECT RELEASE_LOCK('#{key}')")
      rescue Error
        nil # the connection is gone, and its lock with it
      end

      def try_sql
        return "SELECT pg_try_advisory_xact_lock(#{key}) AS locked" if postgresql?

        "SELECT GET_LOCK('#{key}', 0) AS locked"
      end

      def key
        @key ||= SALT * Zlib.crc32(database_name)
      end

      def database_name
        sql = postgresql? ? "SELECT current_database() AS name" : "SELECT DATABASE() AS name"
        @database.await(sql).to_a.first["name"].to_s
      end

      def postgresql?
        @database.dialect.name == :postgresql
      end

      # The file is gone when the lock is: one that was locked after it was removed is not the one others see.
      def with_file
        file = nil
        attempt do
          file = File.open(lock_path, File::RDWR | File::CREAT, 0o644)
          next true if file.flock(File::LOCK_EX | File::LOCK_NB) && same?(file)

          file.close
          false
        end
        yield
      ensure
        File.unlink(lock_path) if file && !file.closed?
        file&.close
      end

      def same?(file)
        File.identical?(file, lock_path)
      end

      def sqlite_path
        @database.path
      end

      def lock_path
        "#{sqlite_path}-migrating"
      end
    end
    private_constant :Lock
  end
end
