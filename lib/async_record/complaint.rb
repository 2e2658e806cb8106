# frozen_string_literal: true

# Owns what an error of the driver is told before the program sees it: the bound values as far as they may be shown, how
# long it took, what it means for the transaction it happened in. It takes the values that databases quote out of their
# messages, which end in logs and error pages. Refuses to change an error's class.

# What may be shown of bound values.
module AsyncRecord
  @filter_binds = true

  class << self
    # How bound values are shown by errors, events and the query log. `true`, the default, shows their class and size
    # only and takes values out of the databases' messages; `false` shows them; a Proc makes what is shown of each.
    # `Error#detail` is the database's own text and always may hold values.
    #
    # @example
    #   AsyncRecord.filter_binds = ->(value) { value.is_a?(Integer) ? value : "[FILTERED]" }
    # @return [Boolean, Proc]
    attr_accessor :filter_binds
  end

  # Bound values as they may be shown.
  module Binds
    class << self
      # @param values [Array]
      # @return [Array]
      def shown(values)
        filter = AsyncRecord.filter_binds
        return values if filter == false || values.empty?

        filter.respond_to?(:call) ? values.map { |value| filter.call(value) } : values.map { |value| outline(value) }
      end

      private

      def outline(value)
        case value
        when nil, true, false then value
        when String then "[String #{value.bytesize}]"
        else "[#{value.class}]"
        end
      end
    end
  end
  private_constant :Binds

  # Completes errors.
  module Complaint
    # What the databases quote from the statement's values, by their codes.
    QUOTED = {
      postgresql: [/\A22/, /(?<=: |value )"(?:[^"]|"(?=\w))*"/],
      mysql: [/\A(?:1062|1292|1366|1525)\z/,
              /(?<=entry |value |value: )(?:'.*'(?= for (?:key|column) | at row )|'.*'\z)/m]
    }.freeze
    private_constant :QUOTED

    class << self
      # @param error [Error]
      # @param started [Float] on the monotonic clock
      # @return [Error] the same
      def complete(error, database, binds, transaction, started)
        return error if error.duration_ms

        error.complete(binds: Binds.shown(binds),
                       duration_ms: (Process.clock_gettime(Process::CLOCK_MONOTONIC) - started) * 1000)
        redact(error, database.dialect.name) unless AsyncRecord.filter_binds == false
        transaction&.struck(error)
        error
      end

      private

      def redact(error, kind)
        codes, values = QUOTED[kind]
        return unless codes&.match?(error.code.to_s)

        message = error.message
        redacted = message.gsub(values, "[FILTERED]")
        error.reword(redacted) unless redacted == message
      end
    end
  end
  private_constant :Complaint
end
