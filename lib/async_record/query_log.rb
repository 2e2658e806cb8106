# frozen_string_literal: true

# Owns the log of statements, one line each, and where this library's own warnings go. Refuses to write bound values
# that AsyncRecord.filter_binds does not show.

# The log of statements.
module AsyncRecord
  @log = nil
  @slow = 0.1

  class << self
    # @return [Logger, nil]
    attr_reader :log

    # Seconds from which a statement is logged as a warning; nil for never. The time includes waiting for a connection.
    # @return [Numeric, nil]
    attr_accessor :slow

    # Logs every statement, one line each: as `debug`, and as `warn` from {slow} on. With a level above `debug` only
    # slow ones are left. A fastr application does so by itself in development.
    #
    # @example
    #   AsyncRecord.log = Logger.new($stdout)
    #   # User Load 0.9ms (queue 0.0, db 0.6, decode 0.1, ruby 0.2) rows=1 request=12 SELECT … ["[Integer]"] app.rb:9
    # @param logger [Logger, nil]
    # @return [void]
    def log=(logger)
      unsubscribe(@logging) if @logging
      @log = logger
      @logging = logger && subscribe(:query) { |event| QueryLog.write(logger, event) }
    end
  end

  # Makes the lines.
  module QueryLog
    class << self
      # @param event [Event]
      # @return [void]
      def write(logger, event)
        slow = AsyncRecord.slow && event.duration_ms >= AsyncRecord.slow * 1000
        return logger.warn { "SLOW #{line(event)}" } if slow

        logger.debug { line(event) }
      end

      # @return [void]
      def warn(message)
        AsyncRecord.log ? AsyncRecord.log.warn(message) : Kernel.warn("AsyncRecord: #{message}")
      end

      private

      def line(event)
        "#{event.name} #{times(event)} #{facts(event)} #{event.sql.gsub(/\s+/, " ").strip}#{outcome(event)}"
      end

      def times(event)
        format("%<all>.1fms (queue %<queue>.1f, db %<db>.1f, decode %<decode>.1f, ruby %<ruby>.1f)",
               all: event.duration_ms, queue: event.queue_ms, db: event.db_ms, decode: event.decode_ms,
               ruby: event.ruby_ms)
      end

      def facts(event)
        facts = { rows: event.rows, request: event.request_id, tx: event.transaction_id }.compact
        facts.map { |name, value| "#{name}=#{value}" }.join(" ")
      end

      def outcome(event)
        binds = event.binds.empty? ? "" : " #{event.binds.inspect}"
        error = event.error ? " FAILED #{event.error.class}: #{event.error.message}" : ""
        "#{binds}#{error}#{" #{event.caller_line}" if event.caller_line}"
      end
    end
  end
  private_constant :QueryLog
end
