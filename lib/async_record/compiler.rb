# frozen_string_literal: true

# Owns the way from a relation to SQL text and binds, in one pass over one buffer. Every value becomes a bind, every
# name goes through the dialect's quoting, and a name that the table does not have is refused here.
# Refuses to run anything and to decide what a relation means.

require "set"

module AsyncRecord
  # SQL text and the values for its placeholders.
  class Statement
    # @return [String]
    attr_reader :sql
    # @return [Array]
    attr_reader :binds

    def initialize(sql, binds)
      @sql = sql
      @binds = binds
    end
  end

  # Writes one statement. Subqueries write into the same buffer, so that numbered placeholders stay right.
  class Compiler
    # Enough for most statements, so that the buffer does not grow in steps.
    CAPACITY = 500
    private_constant :CAPACITY

    # @return [Dialect]
    attr_reader :dialect

    # @param dialect [Dialect]
    # @param table_name [String]
    # @param table [Table, nil] nil while the schema is not known
    def initialize(dialect, table_name, table, buffer = String.new(capacity: CAPACITY), binds = [])
      @dialect = dialect
      @table_name = table_name
      @table = table
      @buffer = buffer
      @binds = binds
    end

    # @return [Statement]
    def statement
      Statement.new(@buffer.freeze, @binds)
    end

    # @param text [String] trusted
    # @return [self]
    def <<(text)
      @buffer << text
      self
    end

    # Appends a placeholder and keeps the value.
    # @return [void]
    def bind(value)
      @buffer << placeholder_for(value)
    end

    # Keeps the value and leaves the writing to the caller.
    # @return [String]
    def placeholder_for(value)
      @binds << @dialect.bind(value)
      @dialect.placeholder(@binds.size)
    end

    # Appends a placeholder for a value of a column.
    # @return [void]
    def bind_for(column, value)
      bind(cast(column, value))
    end

    # @yield between parentheses
    # @return [void]
    def parenthesized
      @buffer << "("
      yield
      @buffer << ")"
    end

    # @yieldparam item each item, with the separator between two
    # @return [void]
    def join(items, separator)
      first = true
      items.each do |item|
        first ? first = false : @buffer << separator
        yield item
      end
    end

    # Appends the table's name.
    # @return [void]
    def source
      @buffer << (@table ? @table.quoted_name : @dialect.quote(@table_name))
    end

    # Appends the list of all columns: by name where they are known, so that a table altered meanwhile changes nothing.
    # @return [void]
    def all_columns
      return @buffer << @table.select_list if @table

      source
      @buffer << ".*"
    end

    # @param name [Symbol, String, Sql, Array(String, String)] an Array is a table and its column
    # @return [String] the qualified, quoted column, or the trusted text
    # @raise [UnknownColumn]
    def column(name)
      return @table.qualified(name) || other_column(name) if @table

      other_column(name)
    end

    # Writes a name, or trusted text with its binds.
    # @return [void]
    def expression(name)
      return fragment(name.text, name.binds, name.named) if name.is_a?(Sql)

      @buffer << column(name)
    end

    # @param text [String]
    # @return [void]
    # @raise [FragmentError] when binds and placeholders do not match
    def fragment(text, binds, named)
      parsed = Fragment.parse(text, @dialect)
      check_binds(parsed, binds, named)
      position = -1
      parsed.pieces.each do |piece|
        case piece
        when String then @buffer << piece
        when Symbol then fragment_value(named.fetch(piece))
        else fragment_value(binds[position += 1])
        end
      end
    end

    # @param name [Symbol, String]
    # @return [void]
    def comparison(name, value)
      case value
      when String, Integer then equality(name, value)
      when nil then @buffer << column(name) << " IS NULL"
      when Array then list(name, value)
      when Range then range(name, value)
      when Relation then subquery_list(name, value)
      when Sql
        @buffer << column(name) << " = "
        parenthesized { expression(value) }
      else equality(name, value)
      end
    end

    # Writes a relation as a subquery, without its parentheses.
    # @return [void]
    def subquery(relation, default_columns = nil)
      inner = Compiler.new(@dialect, relation.model.table_name, relation.model.table, @buffer, @binds)
      Select.new(inner, relation).write(default_columns)
    end

    private

    def equality(name, value)
      @buffer << column(name) << " = "
      bind(comparable(name, value))
    end

    def other_column(name)
      return name.text if name.is_a?(Sql)

      table, column = name.is_a?(Array) ? name : split(name.to_s)
      return unknown_or_quoted(column) if table.nil? || table == @table_name

      @dialect.qualify(table, column)
    end

    def split(text)
      table, dot, column = text.rpartition(".")
      dot.empty? ? [nil, text] : [table, column]
    end

    def unknown_or_quoted(name)
      return @table.qualified(name) || unknown(name) if @table

      @dialect.qualify(@table_name, name)
    end

    def unknown(name)
      near = @table.nearest(name)
      raise UnknownColumn, "#{@table_name} has no column #{name.inspect}#{near && "; did you mean #{near.inspect}?"}"
    end

    # A number that no column can hold still compares rightly as a Float.
    def comparable(name, value)
      value = cast(name, value)
      value.is_a?(Integer) && value.bit_length > 63 ? value.to_f : value
    end

    def cast(name, value)
      kind = @table && @table[name]&.kind
      return value if kind.nil? || kind == :any || value.nil?

      value = value.id if value.is_a?(Base)
      kind == :json && !value.is_a?(String) ? JSON.generate(value) : Type.cast(kind, value)
    end

    def list(name, values)
      ranges, plain = values.partition { |value| value.is_a?(Range) }
      present = plain.compact
      choices = ranges.map { |one| -> { range(name, one) } }
      choices << -> { members(name, present) } unless present.empty?
      choices << -> { @buffer << column(name) << " IS NULL" } if present.size < plain.size
      write_choices(name, choices)
    end

    def write_choices(name, choices)
      case choices.size
      when 0
        column(name)
        @buffer << "1=0"
      when 1 then choices.first.call
      else parenthesized { join(choices, " OR ", &:call) }
      end
    end

    def members(name, values)
      values = values.map { |value| comparable(name, value) }
      if @dialect.array_binds?
        @buffer << column(name) << " = ANY("
        @binds << values.map { |value| @dialect.bind(value) }
        @buffer << @dialect.placeholder(@binds.size) << ")"
      else
        @buffer << column(name) << " IN "
        parenthesized { join(@dialect.pad(values), ", ") { |value| bind(value) } }
      end
    end

    def range(name, range)
      low = range.begin
      high = range.end
      low = nil if infinite?(low)
      high = nil if infinite?(high)
      return open_range(name, low, high, range.exclude_end?) if low.nil? || high.nil? || range.exclude_end?

      @buffer << column(name) << " BETWEEN "
      bind(comparable(name, low))
      @buffer << " AND "
      bind(comparable(name, high))
    end

    def open_range(name, low, high, exclusive)
      return @buffer << "1=1" if low.nil? && high.nil?

      @buffer << "("
      edge(name, " >= ", low) unless low.nil?
      @buffer << " AND " unless low.nil? || high.nil?
      edge(name, exclusive ? " < " : " <= ", high) unless high.nil?
      @buffer << ")"
    end

    def edge(name, operator, value)
      @buffer << column(name) << operator
      bind(comparable(name, value))
    end

    def infinite?(edge)
      edge.is_a?(Float) && edge.infinite?
    end

    def subquery_list(name, relation)
      @buffer << column(name) << " IN "
      parenthesized { subquery(relation, [relation.model.primary_key]) }
    end

    def fragment_value(value)
      case value
      when Array, Set then fragment_list(value.to_a)
      when Relation then parenthesized { subquery(value, [value.model.primary_key]) }
      when Sql then fragment(value.text, value.binds, value.named)
      else bind(value)
      end
    end

    def fragment_list(values)
      return @buffer << "NULL" if values.empty?

      join(@dialect.pad(values), ", ") { |value| bind(value) }
    end

    def check_binds(parsed, binds, named)
      unless parsed.positional == binds.size
        raise FragmentError, "#{parsed.positional} `?` but #{binds.size} values in #{parsed.pieces.join.inspect}; " \
                             "a question mark that is none is written `??`"
      end
      missing = parsed.names - named.keys
      surplus = named.keys - parsed.names
      raise FragmentError, "no value for :#{missing.first}" unless missing.empty?
      raise FragmentError, "no placeholder for :#{surplus.first}" unless surplus.empty?
    end
  end
  private_constant :Compiler, :Statement
end

require_relative "compiler/select"
require_relative "compiler/write"
