# frozen_string_literal: true

# Owns the way from a relation to SQL text and binds, in one pass over one buffer. Every value becomes a bind, every
# name goes through the dialect's quoting, and a name that the table does not have is refused here.
# Refuses to run anything and to decide what a relation means.

require "set"
require_relative "statement"
require_relative "compiler/comparisons"

module AsyncRecord
  # Writes one statement. Subqueries write into the same buffer, so that numbered placeholders stay right.
  class Compiler
    include Comparisons

    # Enough for most statements, so that the buffer does not grow in steps.
    CAPACITY = 500
    private_constant :CAPACITY

    class << self
      # @param table [Table, nil]
      # @param name [Symbol, String]
      # @return [Object] the value as the column's kind wants it
      def cast(table, name, value)
        kind = table && table[name]&.kind
        return value if kind.nil? || kind == :any || value.nil?

        Type.dump(kind, value.is_a?(Base) ? value.id : value)
      end

      # @return [Object] {cast}, for a comparison
      def comparable(dialect, table, name, value)
        value = cast(table, name, value)
        value.is_a?(Integer) && value.bit_length > 63 ? dialect.comparable(value) : value
      end
    end

    # @return [Dialect]
    attr_reader :dialect
    # @return [Table, nil] nil while the schema is not known
    attr_reader :table

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

    # @return [Hash{String => Table}] joined tables by the names under which conditions and orders know them
    def tables
      @tables ||= {}
    end

    # @return [Compiler] that writes on, for another table
    def for_table(table)
      Compiler.new(@dialect, table.name, table, @buffer, @binds)
    end

    # Names of the model's associations have to be joined from here on; only their tables can be meant by them.
    # @param model [Class]
    # @return [void]
    def asked_of(model)
      @model = model
    end

    # For display: no table is read to learn its columns.
    # @return [self]
    def know_only
      @known_only = true
      self
    end

    # @return [Boolean]
    def known_only?
      @known_only ? true : false
    end

    # @return [String] the quoted column of a joined table
    # @raise [UnknownColumn]
    def column_of(table, name)
      table.qualified(name) || (table.columns.empty? ? @dialect.qualify(table.name, name) : unknown(name, table))
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
      bind(Compiler.cast(@table, column, value))
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
      @buffer << (@table ? @table.quoted_name : @dialect.quote_table(@table_name))
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

    # Writes a relation as a subquery, without its parentheses.
    # @return [void]
    def subquery(relation, default_columns = nil)
      inner = Compiler.new(@dialect, relation.model.table_name, relation.model.table, @buffer, @binds)
      Select.new(inner, relation, inner: true).write(default_columns)
    end

    private

    def other_column(name)
      return name.text if name.is_a?(Sql)

      table, column = name.is_a?(Array) ? name : split(name.to_s)
      return unknown_or_quoted(column) if table.nil? || table == @table_name

      joined = @tables && @tables[table]
      return column_of(joined, column) if joined

      refuse_unjoined(table) if @model
      @dialect.qualify(table, column)
    end

    # @raise [AssociationError] if the table is an association's, which the statement lacks
    def refuse_unjoined(table)
      reflection = @model.reflections.each_value.find { |one| one.name.name == table || one.table?(table) } || return
      raise AssociationError, "#{reflection} is not joined, so that conditions and orders cannot name it: say " \
                              "joins(:#{reflection.name}) or left_joins(:#{reflection.name}); includes, preload and " \
                              "eager_load read it by a query of its own"
    end

    def split(text)
      table, dot, column = text.rpartition(".")
      dot.empty? ? [nil, text] : [table, column]
    end

    def unknown_or_quoted(name)
      return @table.qualified(name) || unknown(name) if @table

      @dialect.qualify(@table_name, name)
    end

    def unknown(name, table = @table)
      near = table.nearest(name)
      raise UnknownColumn, "#{table.name} has no column #{name.inspect}#{near && "; did you mean #{near.inspect}?"}"
    end

    def fragment_value(value)
      case value
      when Array, Set then fragment_list(value.to_a)
      when Relation then parenthesized { subquery(value, default_key(value)) }
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
  private_constant :Compiler
end

require_relative "compiler/select"
require_relative "compiler/write"
require_relative "compiler/joins"
