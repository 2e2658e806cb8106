# frozen_string_literal: true

# Owns the types of PostgreSQL in the round trip.

require_relative "random_values"
require_relative "type"

module Support
  module RoundTrip
    # See the head of this file. What only these types need is here, not in the module around it.
    module PostgreSQL
      MOODS = ["sad", "ok", "it's", "ü, \"x\""].freeze
      # What the types need before a column can have them.
      PREPARATION = [
        "create type mood as enum (#{MOODS.map { |mood| "'#{mood.gsub("'", "''")}'" }.join(', ')})",
        "create domain even as bigint check (value % 2 = 0)", "create extension citext"
      ].freeze
      YEARS = (-4000..9999)
      INT2 = (-(2**15)..((2**15) - 1))
      INT4 = (-(2**31)..((2**31) - 1))
      INT8 = (-(2**63)..((2**63) - 1))
      TEXT = { shown: "encode(convert_to(v::text, 'UTF8'), 'hex')", read: HEX }.freeze
      PADDED = { shown: "encode(convert_to(rpad(v, 12), 'UTF8'), 'hex')", read: HEX,
                 back: ->(text) { text.ljust(12) } }.freeze
      JSON_TEXT = { shown: TEXT[:shown], read: DOCUMENT, bind: JSON.method(:generate) }.freeze
      # The bits: as a decimal number the client shows some with more digits than it needs.
      REAL = { shown: "encode(float4send(v), 'hex')",
               read: ->(text) { PostgreSQL.shortest(BYTES.call(text).unpack1("g")) } }.freeze
      EPOCH = { shown: "extract(epoch from v)", read: SECONDS }.freeze
      INFINITE_DAYS = { "infinity" => Float::INFINITY, "-infinity" => -Float::INFINITY }.freeze
      # The client leaves out the zeros at the end.
      CLOCK = { read: ->(text) { text.sub(/\.\d+/) { |fraction| fraction.ljust(7, "0") } } }.freeze
      INTERVAL = {
        shown: "(extract(year from v) * 12 + extract(month from v))::bigint || ' ' || extract(day from v) || ' ' || " \
               "(extract(hour from v) * 3600000000 + extract(minute from v) * 60000000 + " \
               "extract(microseconds from v))::bigint",
        read: ->(text) { AsyncRecord::Interval.of(*text.split.map { |part| Integer(part, 10) }) }
      }.freeze
      # Ranges of what is counted end before the next value.
      COUNTED = ->(range) { range.end && !range.exclude_end? ? Range.new(range.begin, range.end + 1, true) : range }

      class << self
        # @return [Array<Type>]
        def types
          whole_numbers + fractions + texts + bits + networks + calendar + arrays + ranges
        end

        # What single precision keeps surely.
        def shortest(number)
          number.finite? ? format("%<number>.6g", number: number).to_f : number
        end

        private

        def type(...)
          Type.of(...)
        end

        def whole_numbers
          [type("smallint", ->(r) { r.integer(INT2) }, read: INTEGER),
           type("integer", ->(r) { r.integer(INT4) }, read: INTEGER),
           type("bigint", ->(r) { r.integer(INT8) }, read: INTEGER),
           type("oid", ->(r) { r.integer(0..((2**32) - 1)) }, read: INTEGER),
           type("even", ->(r) { r.integer(-(2**62)..((2**62) - 1)) * 2 }, read: INTEGER)]
        end

        def fractions
          [type("real", lambda(&:single), **REAL),
           type("double precision", lambda(&:float), read: FLOAT),
           type("numeric", ->(r) { r.decimal(60, 40, special: true) }, read: DECIMAL),
           type("numeric(30, 10)", ->(r) { r.decimal(20, 10) }, read: DECIMAL),
           type("money", ->(r) { r.decimal(16, 2) }, read: DECIMAL, shown: "v::numeric")]
        end

        def texts
          [type("text", ->(r) { r.text(200) }, **TEXT), type("varchar(60)", ->(r) { r.text(60) }, **TEXT),
           type("char(12)", ->(r) { r.text(12) }, **PADDED), type("name", ->(r) { r.text(15) }, **TEXT),
           type("citext", ->(r) { r.text(60) }, **TEXT),
           type("xml", ->(r) { "<a n=\"#{r.below(100)}\">#{r.digits(20)} ü</a>" }, **TEXT),
           type("mood", ->(r) { r.one_of(*MOODS) }, **TEXT),
           type("json", ->(r) { r.document }, **JSON_TEXT), type("jsonb", ->(r) { r.document }, **JSON_TEXT)]
        end

        def bits
          [type("boolean", lambda(&:boolean), read: ->(text) { { "t" => true, "f" => false }.fetch(text) }),
           type("bytea", ->(r) { r.bytes(60) }, read: BYTES, shown: "encode(v, 'hex')"),
           type("bit(12)", ->(r) { r.bits(12) }), type("bit varying(40)", ->(r) { r.bits(r.below(41)) })]
        end

        def networks
          [type("uuid", lambda(&:uuid)),
           type("inet", ->(r) { inet(*r.address) }), type("cidr", ->(r) { cidr(*r.address) }),
           type("macaddr", ->(r) { Array.new(6) { r.below(256).to_s(16).rjust(2, "0") }.join(":") })]
        end

        def inet(address, bits)
          all = address.ipv4? ? 32 : 128
          bits == all ? address.to_s : "#{address}/#{bits}"
        end

        def cidr(address, bits)
          "#{address.mask(bits)}/#{bits}"
        end

        def calendar
          [type("date", ->(r) { seldom_infinite(r, r.date(YEARS)) },
                read: ->(text) { INFINITE_DAYS[text] || DAY.call(text) }),
           type("timestamp", ->(r) { seldom_infinite(r, r.time(YEARS)) }, **EPOCH),
           type("timestamptz", ->(r) { seldom_infinite(r, r.time(YEARS)) }, **EPOCH),
           type("time", lambda(&:clock), **CLOCK),
           type("timetz", ->(r) { "#{r.clock}#{r.one_of('+00', '+02', '-11:30', '+14')}" }, **CLOCK),
           type("interval", lambda(&:interval), **INTERVAL)]
        end

        def seldom_infinite(random, value)
          random.often?(2) ? random.one_of(Float::INFINITY, -Float::INFINITY) : value
        end

        def arrays
          [array("int[]") { |r| r.array { r.integer(INT4) } },
           array("int[][]") { |r| Array.new(1 + r.below(3)) { [r.below(9), nil, -r.below(9)] } },
           array("text[]") { |r| r.array { r.text(20) } },
           array("numeric[]", ->(number) { BigDecimal(number) }) { |r| r.array { r.decimal(20, 20) } },
           array("timestamptz[]", ->(text) { Time.iso8601(text).utc }) { |r| r.array { r.time(1..9999) } }] + names
        end

        def names
          [array("uuid[]") { |r| r.array { r.uuid } }, array("mood[]") { |r| r.array { r.one_of(*MOODS) } }]
        end

        def array(name, element = ITSELF, &make)
          read = lambda do |text|
            JSON.parse(HEX.call(text), decimal_class: BigDecimal).map { |value| value && element.call(value) }
          end
          type(name, make, shown: "encode(convert_to(array_to_json(v)::text, 'UTF8'), 'hex')", read: read, bind: nil)
        end

        def ranges
          [range("int4range", INTEGER, COUNTED) { |r| r.integer(INT4.begin..(INT4.end - 1)) },
           range("int8range", INTEGER, COUNTED) { |r| r.integer(INT8.begin..(INT8.end - 1)) },
           range("numrange", DECIMAL) { |r| r.decimal(20, 20) },
           range("daterange", DAY, COUNTED) { |r| r.date(1..9998) },
           range("tsrange", SECONDS, bound: "extract(epoch from %s)") { |r| r.time(1..9999) },
           range("tstzrange", SECONDS, bound: "extract(epoch from %s)") { |r| r.time(1..9999) }]
        end

        def range(name, read, back = ITSELF, bound: "%s")
          lower, upper = %w[lower(v) upper(v)].map { |part| "coalesce((#{format(bound, part)})::text, '')" }
          type(name, ->(r) { r.range { yield r } }, back: back, read: ->(text) { range_of(text, read) },
                                                    shown: "#{lower} || '|' || #{upper} || '|' || upper_inc(v)")
        end

        def range_of(text, read)
          lower, upper, included = text.split("|", -1)
          Range.new(lower.empty? ? nil : read.call(lower), upper.empty? ? nil : read.call(upper),
                    !upper.empty? && included == "false")
        end
      end
      private_constant(*constants(false))
      public_constant :PREPARATION
    end
  end
end
