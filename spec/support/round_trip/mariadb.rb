# frozen_string_literal: true

# Owns the types of MariaDB in the round trip.

require_relative "random_values"
require_relative "type"

module Support
  module RoundTrip
    # See the head of this file.
    module MariaDB
      PREPARATION = [].freeze
      SIZES = { "tinyint" => 8, "smallint" => 16, "mediumint" => 24, "int" => 32, "bigint" => 64 }.freeze
      WORDS = ["small", "LARGE", "it's", "ü x"].freeze
      TEXT = { shown: "hex(convert(v using utf8mb4))", read: HEX }.freeze
      BINARY = { shown: "hex(v)", read: BYTES }.freeze
      JSON_TEXT = { shown: TEXT[:shown], read: DOCUMENT, bind: JSON.method(:generate), plain: false }.freeze
      MOMENT = { read: ->(text) { Time.strptime("#{text} UTC", "%Y-%m-%d %H:%M:%S.%N %Z").utc } }.freeze

      class << self
        # @return [Array<Type>]
        def types
          whole_numbers + numbers + fractions + texts + words + others + calendar
        end

        private

        def type(...)
          Type.of(...)
        end

        def whole_numbers
          SIZES.flat_map do |name, bits|
            half = 2**(bits - 1)
            [type(name, ->(r) { r.integer(-half..(half - 1)) }, read: INTEGER),
             type("#{name} unsigned", ->(r) { r.integer(0..((2 * half) - 1)) }, read: INTEGER)]
          end
        end

        def numbers
          [type("tinyint(1)", lambda(&:boolean), read: ->(text) { { "1" => true, "0" => false }.fetch(text) }),
           type("year", ->(r) { 1901 + r.below(255) }, read: INTEGER),
           type("bit(12)", ->(r) { r.below(4096) }, shown: "v + 0", read: INTEGER),
           type("bit(64)", ->(r) { r.integer(0..((2**64) - 1)) }, shown: "v + 0", read: INTEGER)]
        end

        def fractions
          [type("decimal(65, 30)", ->(r) { r.decimal(35, 30) }, read: DECIMAL),
           type("decimal(20, 4)", ->(r) { r.decimal(16, 4) }, read: DECIMAL),
           type("float", ->(r) { r.single(special: false) }, read: FLOAT),
           # Its 0 has no sign.
           type("double", ->(r) { r.float(special: false) }, back: ->(v) { v.zero? ? 0.0 : v }, read: FLOAT)]
        end

        def texts
          [type("varchar(60)", ->(r) { r.text(60) }, **TEXT),
           type("varchar(60) collate utf8mb4_bin", ->(r) { r.text(60) }, **TEXT),
           type("varchar(60) character set latin1", ->(r) { r.western(60) }, **TEXT),
           type("char(12)", ->(r) { r.text(12) }, back: ->(text) { text.sub(/ +\z/, "") }, **TEXT),
           type("tinytext", ->(r) { r.text(60) }, **TEXT), type("longtext", ->(r) { r.text(200) }, **TEXT)]
        end

        def words
          [type("enum(#{quoted(WORDS)})", ->(r) { r.one_of(*WORDS) }, **TEXT),
           type("set(#{quoted(WORDS)})", ->(r) { WORDS.select { r.often?(50) }.join(",") }, **TEXT),
           type("json", ->(r) { r.document }, **JSON_TEXT)]
        end

        def quoted(words)
          words.map { |word| "'#{word.gsub("'", "''")}'" }.join(", ")
        end

        def others
          [type("binary(8)", ->(r) { r.bytes(9) }, back: ->(bytes) { bytes.ljust(8, "\0") }, **BINARY),
           type("varbinary(60)", ->(r) { r.bytes(60) }, **BINARY), type("longblob", ->(r) { r.bytes(200) }, **BINARY),
           type("uuid", lambda(&:uuid)), type("inet6", ->(r) { inet6(r) })]
        end

        # Without zeros, which libraries leave out by different rules.
        def inet6(random)
          Array.new(8) { (1 + random.below(0xFFFF)).to_s(16) }.join(":")
        end

        def calendar
          [type("date", ->(r) { r.date(1000..9999) }, read: DAY),
           type("datetime(6)", ->(r) { r.time(1000..9999) }, **MOMENT),
           type("timestamp(6) null", ->(r) { r.time(1971..2037) },
                shown: "unix_timestamp(v)", read: SECONDS),
           type("time(6)", ->(r) { "#{r.one_of('', '-')}#{r.below(838).to_s.rjust(2, '0')}#{r.clock[2..]}" },
                read: ->(text) { text.delete_suffix(".000000") })]
        end
      end
      private_constant(*constants(false))
      public_constant :PREPARATION
    end
  end
end
