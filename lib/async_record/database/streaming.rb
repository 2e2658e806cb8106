# frozen_string_literal: true

# Owns results that are taken in batches while their statement runs: its connection is kept meanwhile, two batches are
# fetched ahead, and the database waits while the program is slow. Refuses to leave a statement running: whatever ends
# the reading stops it.

module AsyncRecord
  # Streams rows.
  module Streaming
    BATCH = 500
    private_constant :BATCH

    # Runs SQL and yields its rows while they arrive, in a fiber or a thread, which waits between batches.
    #
    # @example
    #   database.stream("select * from events where at > ?", Time.now - 3600) { |row| export(row) }
    # @param batch [Integer] rows fetched at once
    # @yieldparam row [Hash{String => Object}]
    # @return [Integer] how many there were
    def stream(sql, *binds, batch: BATCH, **named, &block)
      raise ArgumentError, "stream needs a block, which gets each row" unless block

      statement = statement(sql, binds, named)
      each_batch(statement.sql, statement.binds, batch: batch) { |rows| rows.to_a.each(&block) }
    end

    # @yieldparam rows [AsyncRecord::Rows] never empty
    # @return [Integer] how many rows there were
    # @raise [Error]
    # @api private
    def each_batch(sql, binds, batch: BATCH, transaction: nil, timeout: nil, &block)
      raise ArgumentError, "a batch has at least one row" unless batch.positive?

      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      transaction ||= transaction_in(Context.current)
      transaction&.check_open
      options = stream_options(batch, transaction, timeout)
      count = nil
      observed(sql, binds, options, transaction) { |timed| count = run_stream(sql, binds, timed, transaction, &block) }
      count
    rescue Error => error
      raise Complaint.complete(error, self, binds, transaction, started)
    end

    private

    def stream_options(batch, transaction, timeout)
      native_options(:rows, transaction, left_of(timeout, Context.current)).merge(batch: batch)
    end

    # An event tells of a stream when it has ended; its time holds what the program did with the rows.
    def observed(sql, binds, options, transaction)
      return yield(options) unless Instrumentation.active?

      Instrumentation.measure(self, sql, binds, options, transaction) { |timed| [yield(timed)] }
    end

    def run_stream(sql, binds, options, transaction, &block)
      return stream_within(transaction, sql, binds, options, &block) if transaction
      return read_stream(pool, sql, binds, options, &block) unless streams_from_replica?(sql)

      read_stream(nil, sql, binds, options, &block)
    end

    def stream_within(transaction, sql, binds, options)
      transaction.use(true) do
        read_stream(pool, sql, binds, options) { |rows| transaction.streaming { yield rows } }
      end
    end

    def streams_from_replica?(sql)
      @replicas && Replicas.reading?(sql) && !@replicas.primary?(Context.current)
    end

    # @param pool [AsyncRecord::Pool, nil] nil for a replica's
    def read_stream(pool, sql, binds, options, &block)
      held = Held.new(self, &:close)
      open = ->(chosen) { open_stream(held, chosen, sql, binds, options) }
      drain_stream(pool ? open.call(pool) : @replicas.read { |replica| open.call(replica || self.pool) }, &block)
    ensure
      held&.release
    end

    # The driver takes `batch:` out of the options.
    def open_stream(held, pool, sql, binds, options)
      held.take(pool) { |chosen, sink| chosen.stream(sink, sql, binds, options.dup) }
    end

    def drain_stream(stream)
      count = 0
      while (rows = complete { |_, sink| stream.next(sink) })
        count += rows.size
        yield rows
      end
      count
    end
  end
  private_constant :Streaming
end
