# frozen_string_literal: true

# Owns the types of SQLite in the round trip: what a declaration makes of a value, and what stays as it was given.

require_relative "random_values"
require_relative "type"

module Support
  module RoundTrip
    # See the head of this file.
    module SQLite
      PREPARATION = [].freeze
      INT8 = (-(2**63)..((2**63) - 1))
      TEXT = { shown: "hex(v)", read: HEX }.freeze
      # The bits: as a decimal number this client is not exact to the last digit.
      # Whole numbers are stored as such, and there 0 has no sign.
      DOUBLE = { shown: "hex(ieee754_to_blob(v))", read: ->(text) { BYTES.call(text).unpack1("G") },
                 back: ->(number) { number.zero? ? 0.0 : number } }.freeze
      WORDS = { "integer" => INTEGER, "real" => ->(text) { BYTES.call(text).unpack1("G") }, "text" => HEX,
                "blob" => BYTES }.freeze
      ANY = {
        shown: "typeof(v) || ' ' || case typeof(v) when 'integer' then v when 'real' then hex(ieee754_to_blob(v)) " \
               "else hex(v) end",
        read: ->(text) { text.split(" ", 2).then { |kind, shown| WORDS.fetch(kind).call(shown.to_s) } }
      }.freeze

      class << self
        # @return [Array<Type>]
        def types
          numbers + texts + calendar
        end

        private

        def type(...)
          Type.of(...)
        end

        def numbers
          [type("integer", ->(r) { r.integer(INT8) }, read: INTEGER),
           type("bigint", ->(r) { r.integer(INT8) }, read: INTEGER),
           type("boolean", lambda(&:boolean), read: ->(text) { { "1" => true, "0" => false }.fetch(text) }),
           type("float", ->(r) { finite_or_endless(r) }, **DOUBLE),
           type("double precision", ->(r) { finite_or_endless(r) }, **DOUBLE),
           # As many digits as a double holds surely.
           type("decimal(15, 4)", ->(r) { r.decimal(11, 4) }, read: ->(text) { BigDecimal(text) })]
        end

        # There is no NaN: it is NULL.
        def finite_or_endless(random)
          random.often?(2) ? random.one_of(Float::INFINITY, -Float::INFINITY) : random.float(special: false)
        end

        def texts
          [type("varchar(60)", ->(r) { with_zero(r) }, **TEXT), type("text", ->(r) { with_zero(r) }, **TEXT),
           type("blob", ->(r) { r.bytes(60) }, shown: "hex(v)", read: BYTES),
           type("json", ->(r) { r.document }, shown: "hex(v)", read: DOCUMENT, bind: JSON.method(:generate)),
           type("", ->(r) { anything(r) }, **ANY)]
        end

        def with_zero(random)
          random.often?(5) ? "#{random.text(20)}\0#{random.text(20)}" : random.text(60)
        end

        def anything(random)
          case random.below(4)
          when 0 then random.integer(INT8)
          when 1 then random.float(special: false)
          when 2 then random.text(60)
          else random.bytes(60)
          end
        end

        def calendar
          [type("date", ->(r) { r.date(1..9999) }, read: DAY),
           type("datetime", ->(r) { r.time(1..9999) },
                read: ->(text) { Time.strptime("#{text} UTC", "%Y-%m-%d %H:%M:%S.%N %Z").utc }),
           type("time", lambda(&:clock))]
        end
      end
      private_constant(*constants(false))
      public_constant :PREPARATION
    end
  end
end
