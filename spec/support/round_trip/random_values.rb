# frozen_string_literal: true

# Owns random values of each kind that a column may hold: edges often, the middle seldom, nothing that none takes.

require "bigdecimal"
require "date"
require "ipaddr"

module Support
  module RoundTrip
    # Each method makes one value. The same seed gives the same values.
    class RandomValues
      # Characters that mean something to some parser on the way.
      ODD = ["'", "\"", "\\", "`", "%", "_", "?", "$1", ":x", "--", "/*", ";", ",", "{", "}", "(", "NULL", "\n", "\r",
             "\t", " ", "\u0001", "\u007f", "ß", "é", "e\u0301", "日本", "\u{1F642}", "\u{10FFFF}", "\uFFFD",
             "\u202E"].freeze
      WESTERN = ["'", "\"", "\\", "`", "%", "?", ":x", "--", "\n", "\t", "ß", "é", "ÿ", "Ä", "€"].freeze
      MICROSECONDS = 1_000_000
      DAY = 86_400 * MICROSECONDS
      private_constant :ODD, :WESTERN, :MICROSECONDS, :DAY

      def initialize(seed)
        @random = Random.new(seed)
      end

      def one_of(*values)
        values[@random.rand(values.size)]
      end

      # @return [Boolean] true so many times of a hundred
      def often?(percent)
        @random.rand(100) < percent
      end

      def below(count)
        @random.rand(count)
      end

      # Of any magnitude within the range.
      def integer(range)
        return one_of(range.begin, range.end, range.cover?(0) ? 0 : range.begin) if often?(5)

        bits = @random.rand(range.end.bit_length + 1)
        number = @random.rand(1 << bits)
        number = -number - 1 if range.begin.negative? && often?(50)
        number.clamp(range.begin, range.end)
      end

      # Of any bits; NaN and the infinities where asked for.
      def float(special: true)
        number = @random.bytes(8).unpack1("D")
        number = @random.rand * (10**below(10)) if often?(30)
        return one_of(Float::INFINITY, -Float::INFINITY, Float::NAN) if special && often?(2)

        number.finite? ? number : -0.0
      end

      # With as few digits as single precision keeps surely.
      def single(special: true)
        return one_of(Float::INFINITY, -Float::INFINITY, Float::NAN) if special && often?(2)

        "#{one_of('', '-')}#{1 + below(9)}.#{digits(5)}e#{below(70) - 35}".to_f
      end

      def decimal(whole, fraction, special: false)
        return one_of(BigDecimal("NaN"), BigDecimal("Infinity"), -BigDecimal("Infinity")) if special && often?(2)

        number = "#{digits(below(whole + 1))}.#{digits(below(fraction + 1))}"
        BigDecimal("#{one_of('', '-')}0#{number}0")
      end

      def digits(count)
        return one_of("0", "9") * count if often?(10)

        Array.new(count) { below(10) }.join
      end

      def boolean
        often?(50)
      end

      # @param most [Integer] characters
      def text(most, odd: ODD, last: 0x10FFFF)
        Array.new(below(most + 1)) { often?(40) ? odd[below(odd.size)] : character(last) }.join[0, most]
      end

      # @return [String] for a charset of the west
      def western(most)
        text(most, odd: WESTERN, last: 0x7F)
      end

      # @return [String] any but NUL, which servers refuse
      def character(last)
        code = 1 + below(often?(60) ? 0x7F : last)
        code.between?(0xD800, 0xDFFF) ? "x" : [code].pack("U")
      end

      # @param count [Integer] fewer than that
      def bytes(count)
        @random.bytes(below(count))
      end

      # @return [String] "0110"
      def bits(count)
        Array.new(count) { below(2) }.join
      end

      def date(years)
        year = years.begin + below(years.size)
        month = 1 + below(12)
        last = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
        return date(years) if year == 1582 && month == 10 # Ruby's calendar leaves days of it out

        Date.new(year, month, 1 + below(last))
      end

      def time(years)
        day = date(years)
        Time.utc(day.year, day.month, day.day, below(24), below(60), below(60), often?(30) ? 0 : below(MICROSECONDS))
      end

      # @return [String] 00:00:00 to 23:59:59.999999
      def clock
        fraction = often?(40) ? "" : format(".%06d", 1 + below(999_999))
        [24, 60, 60].map { |most| below(most).to_s.rjust(2, "0") }.join(":") + fraction
      end

      def interval
        AsyncRecord::Interval.new(months: integer(-2000..2000), days: integer(-5000..5000),
                                  microseconds: integer(-(DAY * 50)..(DAY * 50)))
      end

      # @return [String] of version 4: MariaDB takes only what the standard knows
      def uuid
        parts = @random.bytes(16).unpack("H8H4H4H4H12")
        parts[2][0] = "4"
        parts[3][0] = one_of("8", "9", "a", "b")
        parts.join("-")
      end

      # @return [(IPAddr, Integer)] an address, with how many bits of it are the net
      def address(version = one_of(4, 6))
        return [IPAddr.new(below(2**32), Socket::AF_INET), below(33)] if version == 4

        groups = Array.new(8) { often?(40) ? 0 : below(0x10000) }
        groups[0] = 0xFE80 if groups.first(5).all?(&:zero?) # libraries differ in how they write what begins so
        [IPAddr.new(groups.inject(0) { |sum, group| (sum << 16) | group }, Socket::AF_INET6), below(129)]
      end

      # @return [Hash, Array] a document
      def document(depth = 0)
        return Array.new(below(4)) { inner(depth + 1) } if often?(40)

        Array.new(below(4)) { [text(8), inner(depth + 1)] }.to_h
      end

      def inner(depth)
        return document(depth) if depth < 4 && often?(30)

        one_of(nil, true, false, text(12), integer(-(2**53)..(2**53)), below(1_000_000) / 1000.0)
      end

      # Two different values in order; one of them may be open.
      # @yield makes a bound
      def range(&bound)
        lower, upper = [yield, yield].sort
        return range(&bound) if lower == upper

        one_of(lower..upper, lower...upper, lower...upper, lower.., ..upper, ...upper)
      end

      # @yield makes an element
      def array
        Array.new(below(5)) { often?(10) ? nil : yield }
      end
    end
  end
end
