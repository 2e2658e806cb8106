# frozen_string_literal: true

# Owns what a type of a column is to the round trip: how a value is made, what comes back for it, and how the answer of
# a command line client reads.

module Support
  # Values that go into a column and come out of it. The types of each database are in the files of its name.
  module RoundTrip
    # @!attribute name [String] in the words of the database
    # @!attribute make [Proc] (random) a value
    # @!attribute shown [String] the expression that the client is asked for; `v` is the column
    # @!attribute read [Proc] (text) what the client's text means
    # @!attribute back [Proc] (value) what it comes back as, if not as itself
    # @!attribute bind [Proc] (value) what a plain statement takes for it, if not itself; nil where it takes none: there
    #   an Array is a list of binds
    # @!attribute plain [Boolean] whether a plain query gives the same, where no model says what the column is
    Type = Struct.new(:name, :make, :shown, :read, :back, :bind, :plain, keyword_init: true) do
      def self.of(name, make, shown: "v", read: ITSELF, back: ITSELF, bind: ITSELF, plain: true)
        new(name: name, make: make, shown: shown, read: read, back: back, bind: bind, plain: plain)
      end

      def to_s
        name
      end
    end

    ITSELF = ->(value) { value }
    # What many types share.
    INTEGER = ->(text) { Integer(text, 10) }
    DECIMAL = ->(text) { BigDecimal(text) }
    HEX = ->(text) { [text].pack("H*").force_encoding(Encoding::UTF_8) }
    BYTES = ->(text) { [text].pack("H*") }
    DOCUMENT = ->(text) { JSON.parse(HEX.call(text)) }
    FLOATS = { "NaN" => Float::NAN, "Infinity" => Float::INFINITY, "-Infinity" => -Float::INFINITY }.freeze
    FLOAT = ->(text) { FLOATS[text] || Float(text) }
    SECONDS = ->(text) { FLOATS[text] || Time.at(text.to_r).utc }
    DAY = lambda do |text|
      _, year, month, day, before_christ = *text.match(/\A(\d+)-(\d+)-(\d+)( BC)?\z/)
      Date.new(before_christ ? 1 - year.to_i : year.to_i, month.to_i, day.to_i)
    end

    class << self
      # Equal, and of the same class: 1 is not 1.0, and 0.0 not -0.0.
      def same?(one, other)
        return false unless one.instance_of?(other.class)
        return other.nan? if one.respond_to?(:nan?) && one.nan?

        case one
        when Float then [one].pack("G") == [other].pack("G")
        when String then one == other && binary?(one) == binary?(other)
        when Array then one.size == other.size && one.zip(other).all? { |pair| same?(*pair) }
        else one == other
        end
      end

      private

      def binary?(text)
        text.encoding == Encoding::BINARY
      end
    end
  end
end
