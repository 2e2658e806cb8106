# frozen_string_literal: true

# Owns locks that have a name instead of a row: one holder at a time among all processes of a PostgreSQL or MySQL
# server. SQLite has none; there the lock holds within this process. Outside of transactions a connection of its own
# holds the lock while the block runs. Refuses to let a lock go before the transaction that it was taken in has ended.

require "digest"

# Locks by name.
module AsyncRecord
  class << self
    # Runs a block while nobody else runs one under the same name. Inside a transaction the lock is kept until that
    # ends; otherwise it is freed after the block, and what the block commits is committed by then. On SQLite it holds
    # within this process only: among several processes use a transaction, which on SQLite locks the whole database.
    #
    # @example
    #   AsyncRecord.advisory_lock("nightly report", wait: 5) { Report.build }
    # @param name [String]
    # @param wait [Numeric, nil] seconds to wait for it: nil for ever, 0 not at all
    # @param database [Database, Symbol, Class]
    # @return [Object] what the block returns
    # @raise [LockTimeout] someone else kept it for too long
    # @raise [ConnectionLost] its connection was lost while the block ran, and the lock with it
    def advisory_lock(name, wait: nil, database: PRIMARY, &block)
      raise ArgumentError, "advisory_lock needs a block; the lock is freed after it" unless block
      raise ArgumentError, "wait: is nil or a number of seconds from 0 on" if wait&.negative?

      AdvisoryLock.for(resolve(database)).new(resolve(database), name.to_s, wait).hold(&block)
    end
  end

  # What the databases' locks share: a lock that is held already is not taken again.
  class AdvisoryLock
    # @return [Class]
    def self.for(database)
      return InProcess if database.pin # a test has one connection for everything

      { postgresql: PostgreSQL, mysql: MySQL, sqlite: InProcess }.fetch(database.dialect.name)
    end

    def initialize(database, name, wait)
      @database = database
      @name = name
      @wait = wait
    end

    # @return [Object] what the block returns
    def hold(&block)
      key = [AdvisoryLock, @database, @name]
      transaction = Context[@database]
      return yield if Context[key] || transaction&.advisory_locks&.include?(@name)

      Context.with(key, true) { transaction ? locked_within(transaction, &block) : locked_beside(&block) }
    end

    private

    # Frees the lock when the transaction has ended, or the savepoint in which it was taken is taken back.
    def keep_until_end(transaction)
      transaction.advisory_locks << @name
      freeing = lambda do
        transaction.advisory_locks.delete(@name)
        yield
      end
      transaction.after_commit(&freeing)
      transaction.after_rollback(&freeing)
    end

    # A transaction that does nothing else keeps a connection, and with it the lock.
    def locked_beside
      holder = Transaction.begin(@database)
      beat = Transaction::Heart.new(holder)
      acquire(holder)
      result = yield
      raise ConnectionLost, "the connection that held the lock #{@name.inspect} was lost" unless holder.open?

      result
    ensure
      beat&.stop
      free(holder) if holder&.open?
    end

    def free(holder)
      release(holder)
      holder.rollback
    rescue Error
      nil # with its connection the lock is gone too
    end

    def busy
      LockTimeout.new("the lock #{@name.inspect} is held by someone else#{" for more than #{@wait} s" if @wait != 0}")
    end
  end
end

require_relative "advisory_lock/kinds"
