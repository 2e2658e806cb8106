# frozen_string_literal: true

# Owns the values that Ruby has no class for: a span of time in the database's own parts, and the bytes of a type that
# the driver does not read. The native driver makes them. Refuses arithmetic that would need a calendar.

module AsyncRecord
  # A span of time as PostgreSQL keeps it: months, days and microseconds, none of which is a multiple of another.
  #
  # @example
  #   AsyncRecord::Interval.new(months: 14, days: 3, seconds: 4.5).to_s   # => "P1Y2M3DT4.5S"
  class Interval
    # @return [Integer]
    attr_reader :months
    # @return [Integer]
    attr_reader :days
    # @return [Integer]
    attr_reader :microseconds

    # The native driver's way in.
    # @api private
    def self.of(months, days, microseconds)
      new(months: months, days: days, microseconds: microseconds)
    end

    # @param months [Integer]
    # @param days [Integer]
    # @param seconds [Numeric] rounded to microseconds
    # @param microseconds [Integer] added to the seconds
    def initialize(months: 0, days: 0, seconds: 0, microseconds: 0)
      @months = Integer(months)
      @days = Integer(days)
      @microseconds = (seconds.to_r * 1_000_000).round + Integer(microseconds)
      freeze
    end

    # @return [Rational] the part below a day
    def seconds
      Rational(microseconds, 1_000_000)
    end

    # @return [Boolean] whether all three parts are the same
    def ==(other)
      other.is_a?(Interval) && parts == other.parts
    end
    alias eql? ==

    # @return [Integer]
    def hash
      parts.hash
    end

    # @return [String] ISO 8601, as in "P1Y2M3DT4H5M6.5S"
    def to_s
      date = written([[months.abs / 12 * sign(months), "Y"], [months.abs % 12 * sign(months), "M"], [days, "D"]])
      time = clock
      time = "0S" if date.empty? && time.empty?
      "P#{date}#{"T#{time}" unless time.empty?}"
    end
    alias iso8601 to_s

    # @return [String]
    def inspect
      "#<AsyncRecord::Interval #{self}>"
    end

    # @return [String] as JSON has it
    def to_json(*state)
      to_s.to_json(*state)
    end

    protected

    def parts
      [months, days, microseconds]
    end

    private

    def sign(number)
      number.negative? ? -1 : 1
    end

    def clock
      total = microseconds.abs
      direction = sign(microseconds)
      hours_and_minutes = [[total / 3_600_000_000 * direction, "H"], [total / 60_000_000 % 60 * direction, "M"]]
      written(hours_and_minutes) + seconds_text(total % 60_000_000, direction)
    end

    def written(numbers)
      numbers.reject { |number, _| number.zero? }.map(&:join).join
    end

    def seconds_text(rest, direction)
      return "" if rest.zero?

      text = format("%<whole>d.%<fraction>06d", whole: rest / 1_000_000, fraction: rest % 1_000_000)
      "#{'-' if direction.negative?}#{text.sub(/\.?0+\z/, '')}S"
    end
  end

  # A value of a type that the driver does not read. Ask for its text in SQL: `select column::text`.
  class Raw
    # @return [Integer] the type's number; PostgreSQL's OID
    attr_reader :oid
    # @return [String] as the database sent them
    attr_reader :bytes

    # @api private
    def initialize(oid, bytes)
      @oid = oid
      @bytes = bytes.freeze
      freeze
    end

    # @return [Boolean]
    def ==(other)
      other.is_a?(Raw) && oid == other.oid && bytes == other.bytes
    end
    alias eql? ==

    # @return [Integer]
    def hash
      [oid, bytes].hash
    end

    # @return [String] the bytes as text if they are that, else in hexadecimal
    def to_s
      text = bytes.dup.force_encoding(Encoding::UTF_8)
      text.valid_encoding? && text.match?(/\A[[:print:]\n\t]*\z/) ? text : "\\x#{bytes.unpack1('H*')}"
    end

    # @return [String]
    def inspect
      "#<AsyncRecord::Raw type #{oid}, #{bytes.bytesize} bytes; select it with ::text to read it>"
    end
  end
end
