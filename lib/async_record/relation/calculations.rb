# frozen_string_literal: true

# Owns the terminal methods that return values instead of records: counts, sums, existence, single columns.

module AsyncRecord
  class Relation
    # Computes in the database.
    module Calculations
      # Counts rows, or the rows in which a column is not NULL. With {Relation#group} the result is a Hash.
      #
      # @example
      #   User.count                       # => 7
      #   User.group(:city).count          # => { "Bonn" => 3, "Graz" => 4 }
      #   User.count { |n, error| … }
      # @return [Integer, Hash, Pending]
      def count(column = nil, &block)
        perform(block) { @none ? zero(0) : counted(column) }
      end

      # @return [Integer, Pending] {#count}; an Array's `length` is {#length}
      def size(&block)
        count(&block)
      end

      # @return [Integer] the number of records after loading them
      def length
        waiting.to_a.length
      end

      # @return [Numeric, Hash, Pending] 0 for no rows
      def sum(column, &block)
        perform(block) { @none ? zero(0) : aggregate("SUM", column) { |value| value || 0 } }
      end

      # @return [Float, BigDecimal, nil, Hash, Pending]
      def average(column, &block)
        perform(block) { @none ? zero(nil) : aggregate("AVG", column, cast: false) }
      end

      # @return [Object, nil, Hash, Pending]
      def minimum(column, &block)
        perform(block) { @none ? zero(nil) : aggregate("MIN", column) }
      end

      # @return [Object, nil, Hash, Pending]
      def maximum(column, &block)
        perform(block) { @none ? zero(nil) : aggregate("MAX", column) }
      end

      # Reads columns without making records.
      #
      # @example
      #   User.pluck(:name)                # => ["ann", "bob"]
      #   User.pluck(:id, "name")          # => [[1, "ann"], [2, "bob"]]
      # @return [Array, Pending]
      def pluck(*columns, &block)
        names = column_names(columns, "pluck")
        raise ArgumentError, "pluck needs at least one column" if names.empty?

        @none ? answer([], block) : plucked(names, block)
      end

      # @return [Object, Array, nil, Pending] {#pluck} of one row
      def pick(*columns, &block)
        names = column_names(columns, "pick")
        raise ArgumentError, "pick needs at least one column" if names.empty?

        perform(block) { @none ? nil : limit(1).waiting.plucked(names).first }
      end

      # @return [Array, Pending] the primary keys
      def ids(&block)
        pluck(model.primary_key, &block)
      end

      # @example
      #   User.exists?(name: "ann")
      # @return [Boolean, Pending] whether any row matches
      def exists?(condition = nil, *binds, **named, &block)
        condition = { model.primary_key => condition } unless queryable?(condition)
        where(condition, *binds, **named).any?(&block)
      end

      # With arguments Array's meaning, over the loaded records.
      #
      # @return [Boolean, Pending]
      def any?(*pattern, &block)
        return to_a.any?(*pattern) unless pattern.empty?

        perform(block) { present_now? }
      end

      # @return [Boolean, Pending]
      def empty?(&block)
        perform(block) { !present_now? }
      end

      # With arguments Array's meaning, over the loaded records.
      #
      # @return [Boolean, Pending]
      def none?(*pattern, &block)
        pattern.empty? ? empty?(&block) : to_a.none?(*pattern)
      end

      protected

      def plucked(names, block = nil)
        with(:@selections, names.freeze).fetch_values(block, names.one?)
      end

      def fetch_values(block, single)
        fetch(block) do |rows|
          single ? rows.values_at_column(0) : Array.new(rows.size) { |index| rows.row(index) }
        end
      end

      def without_order
        orders.empty? ? self : with(:@orders, [].freeze)
      end

      def select_with(write)
        Compiler::Select.new(compiler, self).write_with(&write).statement
      end

      private

      def present_now?
        return false if @none

        relation = limit_value ? self : limit(1)
        !run(relation.without_order.select_with(->(sql) { sql << "1" })).size.zero?
      end

      def queryable?(condition)
        condition.nil? || condition.is_a?(Hash) || condition.is_a?(String) || condition.is_a?(Sql)
      end

      def zero(value)
        groups.empty? ? value : {}
      end

      def counted(column)
        column = column_name(column, "count") if column
        return count_subquery(column) if limit_value || offset_value || (distinct? && column.nil?)

        grouped_or_single(->(sql) { write_count(sql, column) }, nil)
      end

      def write_count(sql, column)
        return sql << "COUNT(*)" if column.nil?

        sql << (distinct? ? "COUNT(DISTINCT " : "COUNT(")
        sql.expression(column)
        sql << ")"
      end

      # A limit or a distinct selection counts what it would return.
      def count_subquery(column)
        outer = compiler
        inner = column && selections.nil? ? select(column) : self
        outer << "SELECT COUNT(*) FROM ("
        outer.subquery(inner, distinct? ? nil : [model.primary_key])
        outer << ") AS counted"
        run(outer.statement).row(0).first
      end

      def aggregate(function, column, cast: true, &convert)
        column = column_name(column, function.downcase)
        kind = cast && column_kind(column)
        write = lambda do |sql|
          sql << function << (distinct? ? "(DISTINCT " : "(")
          sql.expression(column)
          sql << ")"
        end
        grouped_or_single(write, ->(value) { convert_value(kind, value, convert) })
      end

      def convert_value(kind, value, convert)
        value = Type.cast(kind, value) if kind
        convert ? convert.call(value) : value
      end

      def column_kind(column)
        column.is_a?(Sql) ? nil : model.table && model.table[column]&.kind
      end

      def grouped_or_single(write, convert)
        groups.empty? ? single(write, convert) : grouped(write, convert)
      end

      def single(write, convert)
        value = run(without_order.select_with(write)).row(0)&.first
        convert ? convert.call(value) : value
      end

      def grouped(write, convert)
        width = groups.size
        rows = run(select_with(->(sql) { write_groups(sql, write) }))
        Array.new(rows.size) do |index|
          *key, value = rows.row(index)
          [width == 1 ? key.first : key, convert ? convert.call(value) : value]
        end.to_h
      end

      def write_groups(sql, write)
        groups.each do |column|
          sql.expression(column)
          sql << ", "
        end
        write.call(sql)
      end
    end
    private_constant :Calculations
  end
end
