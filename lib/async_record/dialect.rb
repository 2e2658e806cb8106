# frozen_string_literal: true

# Owns everything in which the databases' SQL differs: quoting, placeholders, lists, limits, upserts, literals.
# What is written here is the standard (SQLite and PostgreSQL agree); subclasses say what differs.
# Refuses to run anything and to know relations: it turns names and values into text, nothing else.

require "bigdecimal"
require "date"
require "json"

module AsyncRecord
  # One database's SQL. Shared, frozen in behaviour; its only state is the cache of quoted names.
  class Dialect
    # The binds of one statement beyond which the database refuses it.
    MAX_BINDS = 32_766
    MAX_QUOTED = 4096
    # The encodings that go to the driver as they are.
    UNCHANGED = [Encoding::UTF_8, Encoding::BINARY, Encoding::US_ASCII].freeze
    private_constant :MAX_QUOTED, :UNCHANGED

    def initialize
      @quoted = {}
    end

    # @return [Symbol] :sqlite, :postgresql or :mysql
    def name
      raise NotImplementedError, "#{self.class}#name is missing"
    end

    # Quotes an identifier by doubling its quote character. Only this makes text of a name.
    #
    # @param identifier [String, Symbol]
    # @return [String] frozen
    # @raise [InvalidIdentifier] empty, with a NUL byte, not valid text, or too long
    def quote(identifier)
      @quoted[identifier] || remember(identifier, build_quoted(identifier.to_s))
    end

    # Quotes the name of a table, which may stand in a schema (on MySQL a database): "sales.orders" are two names.
    #
    # @param name [String, Symbol]
    # @return [String]
    # @raise [InvalidIdentifier]
    def quote_table(name)
      schema, table = split_table(name)
      schema ? "#{quote(schema)}.#{quote(table)}" : quote(table)
    end

    # @return [Array(String, String)] the schema, or nil, and the table
    # @raise [InvalidIdentifier] for more than two parts
    def split_table(name)
      parts = name.to_s.split(".", -1)
      return [nil, name.to_s] if parts.one? || parts.empty?
      return parts if parts.size == 2

      raise InvalidIdentifier, "a table is named \"table\" or \"schema.table\", not #{name.to_s[0, 60].inspect}"
    end

    # @return [String] "table"."column"
    def qualify(table, column)
      "#{quote_table(table)}.#{quote(column)}"
    end

    # @return [String]
    def quote_char
      '"'
    end

    # @return [Boolean] whether a result says which of its columns are JSON; where not, the schema does
    def tells_documents?
      true
    end

    # @param number [Integer] of more than 64 bits, or of 64 without a sign
    # @return [Numeric] what is bound to compare columns with it, exactly where a column can hold it
    def comparable(number)
      number
    end

    # @param _declared [String] a column's type
    # @return [Integer, nil] its bits, if the database refuses to compare it with a number beyond them
    def integer_bits(_declared)
      nil
    end

    # @return [Boolean] whether a backslash escapes inside a plain string
    def backslash_escapes?
      false
    end

    # @return [Integer] the longest identifier, in bytes
    def max_identifier
      63
    end

    # @return [Integer]
    def max_binds
      MAX_BINDS
    end

    # @param _index [Integer] counts from 1
    # @return [String]
    def placeholder(_index)
      "?"
    end

    # @return [Boolean] whether a list of any length is one bind (an array)
    def array_binds?
      false
    end

    # Lists are padded to powers of two by repeating the last value, so that few statement texts exist.
    #
    # @return [Array] of a length out of 1, 2, 4, 8…
    def pad(values)
      size = values.size
      return values if size.zero? || size > max_binds / 4

      target = 1
      target <<= 1 while target < size
      target == size ? values : values + Array.new(target - size, values.last)
    end

    # @return [String] the LIMIT and OFFSET clause; each is nil or a placeholder
    def limit_clause(limit, offset)
      return " LIMIT #{limit}#{offset && " OFFSET #{offset}"}" if limit

      offset ? " OFFSET #{offset}" : ""
    end

    # @return [String] one ORDER BY term
    def order_term(column, direction, nulls)
      "#{column}#{direction == :desc ? ' DESC' : ' ASC'}#{nulls && " NULLS #{nulls.to_s.upcase}"}"
    end

    # @return [Boolean] whether every server of this kind knows RETURNING
    def returning?
      true
    end

    # @param list [String] quoted columns
    # @return [String] the clause at the end of an INSERT, with a leading space
    def returning_clause(list)
      " RETURNING #{list}"
    end

    # @return [Boolean] whether UPDATE and DELETE may read their own table in a subquery
    def reads_its_target?
      true
    end

    # @return [Boolean]
    def distinct_on?
      false
    end

    # @return [Boolean] whether an upsert names the index it means
    def conflict_target?
      true
    end

    # @param conflict [Array<String>] quoted columns of the unique index; empty means any
    # @param updates [Array<String>, nil] quoted columns to overwrite; nil skips the row
    # @return [String] the clause after VALUES
    def upsert_clause(conflict, updates)
      target = conflict.empty? ? "" : " (#{conflict.join(', ')})"
      return " ON CONFLICT#{target} DO NOTHING" if updates.nil? || updates.empty?

      " ON CONFLICT#{target} DO UPDATE SET #{updates.map { |column| "#{column} = excluded.#{column}" }.join(', ')}"
    end

    # @return [String] what stands before assignments written by hand
    def upsert_head(conflict)
      " ON CONFLICT#{conflict.empty? ? '' : " (#{conflict.join(', ')})"} DO UPDATE SET "
    end

    # @return [String] the part after the table for a row of nothing but defaults
    def default_values
      " DEFAULT VALUES"
    end

    # @return [String]
    def boolean(value)
      value ? "TRUE" : "FALSE"
    end

    # @param lock [Relation::Lock]
    # @return [String] the clause that locks the rows read, with a leading space
    def lock_clause(lock)
      of = lock.tables.empty? ? "" : " OF #{lock.tables.map { |table| quote(table) }.join(', ')}"
      " FOR #{lock.strength}#{of}#{lock.wait && " #{lock.wait}"}"
    end

    # @return [String]
    def random
      "RANDOM()"
    end

    # @return [String]
    def explain
      "EXPLAIN "
    end

    # @return [Boolean] whether a failed migration leaves nothing behind
    def transactional_ddl?
      true
    end

    # What the driver takes for a Ruby value that is no plain scalar.
    #
    # @return [nil, true, false, Integer, Float, String, BigDecimal, Time, Date, Array]
    # @raise [ArgumentError] for a value no column can hold
    def bind(value)
      case value
      when String then value.valid_encoding? && UNCHANGED.include?(value.encoding) ? value : text(value)
      when Integer, nil, true, false, Float then value
      when Symbol then text(value.name)
      when BigDecimal, Time, Date then bind_exact(value)
      when Hash, Array then JSON.generate(value)
      else bind_object(value)
      end
    end

    private

    # Text of another encoding becomes UTF-8; bytes that are no text are a value only when they say so (BINARY).
    def text(value)
      return value if value.encoding == Encoding::UTF_8 && value.valid_encoding?

      raise EncodingError unless value.valid_encoding?

      value.encode(Encoding::UTF_8)
    rescue EncodingError
      raise InvalidText,
            "text that is not valid #{value.encoding}: #{value.b[0, 40].inspect}; bytes are bound with `.b`"
    end

    def bind_exact(value)
      value
    end

    def bind_object(value)
      return bind(value.to_time.utc) if value.respond_to?(:to_time)
      return bind(value.id) if value.is_a?(Base)
      return value.to_s if value.is_a?(Sql)

      raise ArgumentError, "cannot bind a #{value.class}; pass a String, number, Time, Date, true, false or nil"
    end

    def remember(identifier, quoted)
      @quoted.clear if @quoted.size >= MAX_QUOTED
      @quoted[identifier.frozen? ? identifier : identifier.dup.freeze] = quoted
    end

    def build_quoted(identifier)
      check_identifier(identifier)
      mark = quote_char
      "#{mark}#{identifier.gsub(mark, mark + mark)}#{mark}".freeze
    end

    def check_identifier(identifier)
      raise InvalidIdentifier, "an identifier cannot be empty" if identifier.empty?
      raise InvalidIdentifier, "an identifier must be valid UTF-8 text" unless text?(identifier)
      raise InvalidIdentifier, "an identifier cannot hold a NUL byte" if identifier.include?("\0")
      return if identifier.bytesize <= max_identifier

      raise InvalidIdentifier, "an identifier has at most #{max_identifier} bytes here, this one has " \
                               "#{identifier.bytesize}: #{identifier[0, 30].inspect}…"
    end

    def text?(identifier)
      identifier.valid_encoding? && (identifier.encoding == Encoding::UTF_8 || identifier.ascii_only?)
    end
  end
end

require_relative "dialect/sqlite"
require_relative "dialect/postgresql"
require_relative "dialect/mysql"

module AsyncRecord
  class Dialect # rubocop:disable Style/Documentation -- documented above; its subclasses had to come first
    BY_NAME = { sqlite: SQLite.new, postgresql: PostgreSQL.new, mysql: MySQL.new }.freeze
    private_constant :BY_NAME

    # @param name [Symbol]
    # @return [Dialect] the shared instance
    def self.for(name)
      BY_NAME.fetch(name)
    end
  end
end
