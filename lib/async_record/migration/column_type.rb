# frozen_string_literal: true

# Owns which column types there are and what each database calls them. A type that a database lacks is refused with the
# name of the nearest one that works there. Refuses to write anything but the type: constraints are the Ddl's.

module AsyncRecord
  class Migration
    # The SQL of a column's type.
    module ColumnType
      # Other words for the same type.
      ALIASES = {
        numeric: :decimal, double: :float, timestamp: :datetime, timestamptz: :datetime, jsonb: :json, binary: :blob,
        bytea: :blob
      }.freeze
      # What every database has; the dialects know the words.
      COMMON = %i[string text integer bigint float decimal boolean date datetime time json blob].freeze
      # SQLite, PostgreSQL, MySQL; nil where there is none.
      OTHERS = {
        smallint: %w[SMALLINT smallint SMALLINT], real: %w[REAL real FLOAT], uuid: %w[CHAR(36) uuid CHAR(36)],
        char: %w[CHAR char CHAR], bit: [nil, "bit", "BIT"], tinyint: [nil, nil, "TINYINT"],
        mediumint: [nil, nil, "MEDIUMINT"], year: [nil, nil, "YEAR"], set: [nil, nil, "SET"],
        enum: %w[VARCHAR varchar ENUM],
        **%i[inet cidr macaddr citext xml tsvector tsquery hstore interval money timetz bit_varying int4range int8range
             numrange tsrange tstzrange daterange point].to_h { |type| [type, [nil, type.name.tr("_", " "), nil]] }
      }.freeze
      # What to take instead.
      NEAREST = {
        inet: "string, limit: 43", cidr: "string, limit: 43", macaddr: "string, limit: 17",
        citext: "string with collation: \"NOCASE\" (SQLite) or a _ci collation (MySQL has one by default)",
        xml: "text", tsvector: "text, with a FTS5 table (SQLite) or a FULLTEXT index (MySQL), by execute",
        tsquery: "text", hstore: "json", interval: "integer (seconds)", money: "decimal, precision: 19, scale: 4",
        timetz: "time", bit: "blob or integer", bit_varying: "blob", point: "two float columns",
        tinyint: "smallint", mediumint: "integer", year: "smallint", set: "json",
        **%i[int4range int8range numrange tsrange tstzrange daterange].to_h { |type| [type, "two columns"] }
      }.freeze
      DATABASES = { sqlite: "SQLite", postgresql: "PostgreSQL", mysql: "MySQL" }.freeze
      WIDTHS = {
        postgresql: { 2 => "smallint", 4 => "integer", 8 => "bigint" },
        mysql: { 1 => "TINYINT", 2 => "SMALLINT", 3 => "MEDIUMINT", 4 => "INT", 8 => "BIGINT" },
        sqlite: { 2 => "SMALLINT", 4 => "INTEGER", 8 => "BIGINT" }
      }.freeze
      # MySQL's texts by the bytes they hold.
      TEXTS = { 255 => "TINY", 65_535 => "", 16_777_215 => "MEDIUM", 4_294_967_295 => "LONG" }.freeze
      SIZES = { tiny: 255, medium: 16_777_215, long: 4_294_967_295 }.freeze
      # MySQL wants a length for every VARCHAR.
      MYSQL_STRING = 255
      private_constant :ALIASES, :COMMON, :OTHERS, :NEAREST, :DATABASES, :WIDTHS, :TEXTS, :SIZES, :MYSQL_STRING

      # Every word, without the aliases.
      NAMES = (COMMON + OTHERS.keys).freeze
      # Every word.
      WORDS = (NAMES + ALIASES.keys).freeze

      module_function

      # @param type [Symbol, String] a String is the database's own word
      # @param options [Hash] `limit:`, `precision:`, `scale:`, `array:`, `unsigned:`, `size:`, `values:`, `enum_type:`
      # @param dialect [Dialect]
      # @return [String]
      # @raise [MigrationError] when the database has no such type
      def sql(type, options, dialect)
        type = ALIASES.fetch(type, type)
        base = type.is_a?(String) ? type : word(type, options, dialect)
        base += " UNSIGNED" if options[:unsigned] && unsigned(type, dialect)
        options[:array] && array(type, dialect) ? "#{base}[]" : base
      end

      def word(type, options, dialect)
        case type
        when :integer, :bigint then integer(type, options, dialect)
        when :enum, :set then enum(type, options, dialect)
        when :text, :blob then large(type, options, dialect)
        when :datetime then datetime(options, dialect)
        else "#{name_of(type, dialect)}#{size(type, options, dialect)}"
        end
      end

      def name_of(type, dialect)
        return dialect.types.fetch(type) if COMMON.include?(type)

        OTHERS.fetch(type)[%i[sqlite postgresql mysql].index(dialect.name)] || refuse(type, dialect, NEAREST[type])
      end

      def refuse(what, dialect, nearest)
        what = "type #{what}" if what.is_a?(Symbol)
        raise MigrationError, "#{DATABASES.fetch(dialect.name)} has no #{what}; the nearest that works there is " \
                              "#{nearest}"
      end

      def integer(type, options, dialect)
        bytes = options[:limit]
        return dialect.types.fetch(type) unless bytes

        widths = WIDTHS.fetch(dialect.name)
        wide = widths.keys.find { |width| width >= Integer(bytes) }
        wide ? widths[wide] : raise(MigrationError, "an integer has 1 to 8 bytes, not limit: #{bytes}")
      end

      # PostgreSQL's own enum types are made by `create_enum`. With `values:` the others get a check.
      def enum(type, options, dialect)
        return dialect.quote(options[:enum_type]) if options[:enum_type] && dialect.name == :postgresql

        base = name_of(type, dialect)
        values = options[:values] || raise(MigrationError, "#{type} needs values: %w[…]" \
                                                           "#{' or enum_type: (see create_enum)' if type == :enum}")
        dialect.name == :mysql ? "#{base}(#{values.map { |value| Literal.of(value, dialect) }.join(', ')})" : base
      end

      def large(type, options, dialect)
        bytes = options[:limit] || SIZES[options[:size]]
        return dialect.types.fetch(type) unless bytes && dialect.name == :mysql

        _, prefix = TEXTS.find { |most, _| most >= Integer(bytes) }
        "#{prefix || raise(MigrationError, "#{type} holds at most 4 GiB")}#{type.name.upcase}"
      end

      def datetime(options, dialect)
        base = dialect.types.fetch(:datetime)
        options[:precision] ? "#{base[/\A\w+/]}(#{Integer(options[:precision])})" : base
      end

      def size(type, options, dialect)
        limit, precision, scale = options.values_at(:limit, :precision, :scale)
        case type
        when :string then string_size(limit, dialect)
        when :char, :bit, :bit_varying then limit ? "(#{Integer(limit)})" : ""
        when :decimal, :interval, :time, :timetz
          precision ? "(#{[precision, scale].compact.map { |number| Integer(number) }.join(', ')})" : ""
        else ""
        end
      end

      def string_size(limit, dialect)
        limit ||= MYSQL_STRING if dialect.name == :mysql
        limit ? "(#{Integer(limit)})" : ""
      end

      def unsigned(type, dialect)
        return true if dialect.name == :mysql

        refuse("unsigned #{type}", dialect, "bigint with a check that it is not negative")
      end

      def array(type, dialect)
        return true if dialect.name == :postgresql

        refuse("array of #{type}", dialect, "json")
      end
      private_class_method :word, :name_of, :refuse, :integer, :enum, :large, :datetime, :size, :string_size, :unsigned,
                           :array
    end
    private_constant :ColumnType

    # Values as SQL text: DDL takes no binds.
    module Literal
      module_function

      # @param value [Object]
      # @param dialect [Dialect]
      # @return [String]
      # @raise [MigrationError] for a text with a NUL byte
      def of(value, dialect)
        case value
        when nil then "NULL"
        when true, false then dialect.boolean(value)
        when Sql then value.text.match?(/\A\w+\z/) ? value.text : "(#{value.text})"
        when Integer then value.to_s
        when Numeric then dialect.bind(value).to_s
        when Hash, Array then text(JSON.generate(value), dialect)
        else text(plain(value, dialect), dialect)
        end
      end

      # PostgreSQL's and MySQL's drivers take dates as they are; text needs them written out.
      def plain(value, dialect)
        bound = dialect.bind(value)
        case bound
        when Time then bound.getutc.strftime("%Y-%m-%d %H:%M:%S.%6N")
        when Date then bound.iso8601
        when BigDecimal then bound.to_s("F")
        else bound.to_s
        end
      end

      def text(value, dialect)
        raise MigrationError, "a default cannot hold a NUL byte" if value.include?("\0")

        value = value.gsub("\\", "\\\\\\\\") if dialect.backslash_escapes?
        "'#{value.gsub("'", "''")}'"
      end
      private_class_method :plain, :text
    end
    private_constant :Literal
  end
end
