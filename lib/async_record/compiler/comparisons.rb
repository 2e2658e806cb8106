# frozen_string_literal: true

# Owns the comparison of a column with a Ruby value: what nil, lists, ranges, subqueries and trusted SQL mean. Part of
# the compiler, whose buffer and names it uses.

module AsyncRecord
  class Compiler
    # Writes conditions on one column.
    module Comparisons
      # @param name [Symbol, String]
      # @return [void]
      def comparison(name, value)
        case value
        when String, Integer then equality(name, value)
        when nil then @buffer << column(name) << " IS NULL"
        when Array then holds?(name, :array) ? arrays(name, value) : list(name, value)
        when Range then holds?(name, :range) ? equality(name, value) : range(name, value)
        when Relation then subquery_list(name, value)
        when Sql
          @buffer << column(name) << " = "
          parenthesized { expression(value) }
        else equality(name, value)
        end
      end

      # Writes a column, an operator and a value.
      # @return [void]
      def edge(name, operator, value)
        column = column(name)
        value = comparable(name, value)
        return beyond(column, operator, value) if beyond?(name, value)

        @buffer << column << operator
        bind(value)
      end

      private

      def equality(name, value)
        edge(name, " = ", value)
      end

      # No row holds the number, all rows lie on one side of it.
      def beyond(column, operator, value)
        below = value.positive? && operator.include?("<")
        above = value.negative? && operator.include?(">")
        @buffer << (below || above ? "#{column} IS NOT NULL" : "1=0")
      end

      def beyond?(name, value)
        value.is_a?(Integer) && table_of(name)&.beyond?(name.is_a?(Array) ? name.last : name, value)
      end

      # A column of arrays is compared with an array; with several of them if their elements are arrays.
      def arrays(name, value)
        return equality(name, value) unless value.first.is_a?(Array)

        parenthesized { join(value, " OR ") { |one| equality(name, one) } }
      end

      def holds?(name, kind)
        @table && @table[name]&.kind == kind
      end

      def comparable(name, value)
        Compiler.comparable(@dialect, table_of(name), name.is_a?(Array) ? name.last : name, value)
      end

      def table_of(name)
        return @table if !name.is_a?(Array) || name.first == @table_name

        @tables && @tables[name.first]
      end

      def list(name, values)
        return members(name, values) unless values.empty? || values.any? { |value| value.nil? || value.is_a?(Range) }

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
        values = values.reject { |value| beyond?(name, value) } if @dialect.array_binds?
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
        low, high = [low, high].map { |edge| edge.nil? ? nil : comparable(name, edge) }
        wide = beyond?(name, low) || beyond?(name, high)
        return open_range(name, low, high, range.exclude_end?) if low.nil? || high.nil? || range.exclude_end? || wide

        @buffer << column(name) << " BETWEEN "
        bind(low)
        @buffer << " AND "
        bind(high)
      end

      def open_range(name, low, high, exclusive)
        return @buffer << "1=1" if low.nil? && high.nil?

        @buffer << "("
        edge(name, " >= ", low) unless low.nil?
        @buffer << " AND " unless low.nil? || high.nil?
        edge(name, exclusive ? " < " : " <= ", high) unless high.nil?
        @buffer << ")"
      end

      def infinite?(edge)
        edge.is_a?(Float) && edge.infinite?
      end

      def subquery_list(name, relation)
        @buffer << column(name) << " IN "
        parenthesized { subquery(relation, default_key(relation)) }
      end

      # @return [Array<String>, nil] what a subquery selects that does not say
      def default_key(relation)
        [relation.model.single_key("a subquery")] unless relation.selections
      end
    end
    private_constant :Comparisons
  end
end
