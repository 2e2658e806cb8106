# frozen_string_literal: true

# Owns what is known of a database's tables: columns, their kinds and defaults, the primary key. Tables are read once,
# when first needed, through the same asynchronous pool as everything else. Refuses to change anything; a table that
# does not exist is not remembered, because it may be created a moment later.

require_relative "type"

module AsyncRecord
  # One column as the database describes it.
  class Column
    # @return [String] frozen
    attr_reader :name
    # @return [String] the declared type, as in "VARCHAR(40)"
    attr_reader :sql_type
    # @return [Symbol, #cast] :integer, :string, :datetime…, or what the model declares
    attr_reader :kind
    # @return [Symbol] what the database's values are
    attr_reader :stored_kind
    # @return [Object, nil] the default as a Ruby value; nil if there is none or the database computes it
    attr_reader :default
    # @return [Integer] 0, or the position within the primary key
    attr_reader :key_position

    # @param name [String]
    # @param kind_type [String, nil] the type that says what the values are, if the declared one does not
    # @param stored_type [String, nil] the type as which the driver reads them, if that is another
    def initialize(name, sql_type: "", kind_type: nil, stored_type: nil, null: true, default: nil, key_position: 0)
      @name = -name
      @sql_type = sql_type.to_s
      @kind = Type.for(kind_type || sql_type)
      @stored_kind = stored_type ? Type.for(stored_type) : @kind
      @null = null
      @default = Type.cast(@kind, literal(default))
      @key_position = key_position
      freeze
    end

    # @return [Boolean] whether NULL is allowed
    def null?
      @null
    end

    # @param kind [Symbol, #cast]
    # @return [Column] with values of that kind
    # @api private
    def retyped(kind)
      copy = dup
      copy.instance_variable_set(:@kind, kind)
      copy.instance_variable_set(:@default, Type.load(kind, default))
      copy.freeze
    end

    # @return [Integer, nil] the digits after the point that the declaration says, as in "DECIMAL(10,2)"
    # @api private
    def scale
      sql_type[/\(\s*\d+\s*,\s*(\d+)\s*\)/, 1]&.to_i
    end

    private

    # Databases give defaults as SQL text. Expressions stay with the database.
    def literal(text)
      case text
      when nil, /\ANULL/i then nil
      when /\A'((?:[^']|'')*)'(?:::.*)?\z/m then Regexp.last_match(1).gsub("''", "'")
      when /\A"((?:[^"]|"")*)"\z/m then Regexp.last_match(1)
      when /\A-?\d+\z/ then text.to_i
      when /\A-?\d*\.\d+\z/ then text
      when /\Atrue\z/i then true
      when /\Afalse\z/i then false
      end
    end
  end

  # One table: its columns by name, each with its quoted form ready for the compiler.
  class Table
    # @return [String]
    attr_reader :name
    # @return [Array<Column>] in the order of the table
    attr_reader :columns
    # @return [Array<String>] names, in the order of the table
    attr_reader :names
    # @return [Array<String>] the primary key's columns
    attr_reader :primary_key
    # @return [String] the quoted table
    attr_reader :quoted_name
    # @return [String] every column, quoted and qualified, for a SELECT
    attr_reader :select_list

    # The bits of a number that every integer column holds, without its sign.
    SMALLEST_WIDTH = 15
    private_constant :SMALLEST_WIDTH

    # @param name [String]
    # @param columns [Array<Column>]
    # @param dialect [Dialect]
    # @param aliases [Hash{String => String}] other names of columns
    def initialize(name, columns, dialect, aliases: {})
      @name = name
      @dialect = dialect
      @quoted_name = dialect.quote_table(name)
      @columns = columns.freeze
      @names = columns.map(&:name).freeze
      @by_name = index(columns, aliases) { |column| column }
      @bits = index(columns, aliases) { |column| dialect.integer_bits(column.sql_type) }
      @qualified = index(columns, aliases) { |column| dialect.qualify(name, column.name).freeze }
      @primary_key = columns.select { |c| c.key_position.positive? }.sort_by(&:key_position).map(&:name).freeze
      @select_list = names.map { |column| @qualified[column] }.join(", ").freeze
      freeze
    end

    # @param name [String, Symbol]
    # @return [Column, nil]
    def [](name)
      @by_name[name]
    end

    # @param name [String, Symbol]
    # @return [String, nil] the quoted "table"."column"
    def qualified(name)
      @qualified[name]
    end

    # @param name [String, Symbol]
    # @param value [Object]
    # @return [Boolean] whether it is a number that no row can hold and that the database would not compare
    # @api private
    def beyond?(name, value)
      return false unless value.is_a?(Integer) && value.bit_length > SMALLEST_WIDTH

      bits = @bits[name]
      !bits.nil? && value.bit_length >= bits
    end

    # @yieldparam column [Column]
    # @yieldreturn [Column] as the model sees it
    # @return [Table]
    # @api private
    def retyped(aliases, &change)
      Table.new(name, columns.map(&change), @dialect, aliases: aliases)
    end

    # @return [String, nil] the known name that looks most like the given one
    def nearest(name)
      DidYouMean::SpellChecker.new(dictionary: @names).correct(name.to_s).first if defined?(DidYouMean)
    end

    private

    # Symbols and strings both find their column, so that the compiler never converts.
    def index(columns, aliases)
      map = columns.each_with_object({}) do |column, names|
        names[column.name] = names[column.name.to_sym] = yield(column)
      end
      aliases.each { |other, name| map[other] = map[other.to_sym] = map[name] if map[name] }
      map.freeze
    end
  end

  # The tables of one database, read when first needed.
  class Schema
    # @param database [Database]
    def initialize(database)
      @database = database
      @tables = {}
    end

    # @param name [String]
    # @return [Table, nil] what is known already; never waits
    def known(name)
      @tables[name]
    end

    # @param name [String]
    # @return [Table, nil] nil if there is no such table; waits for the database the first time
    def table(name)
      @tables[name] || load(name)
    end

    # Forgets one table, or all.
    # @param name [String, nil]
    # @return [void]
    def forget(name = nil)
      name ? @tables.delete(name) : @tables.clear
    end

    private

    def load(name)
      sql, binds = @database.dialect.columns_query(name)
      # A replica may not have the table yet.
      columns = AsyncRecord.using_primary { @database.await(sql, binds) }.to_a.map { |row| column(row) }
      return nil if columns.empty?

      @tables[name] = Table.new(name, columns, @database.dialect)
    end

    def column(row)
      Column.new(row["name"], sql_type: row["type"], kind_type: row["kind_type"], stored_type: row["stored_type"],
                              null: [nil, 0, false].include?(row["notnull"]), default: row["dflt_value"],
                              key_position: key_position(row["pk"]))
    end

    def key_position(value)
      case value
      when Numeric then value.to_i
      when true then 1
      else 0
      end
    end
  end
  private_constant :Schema
end
