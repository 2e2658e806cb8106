# frozen_string_literal: true

# Owns the terminal methods that return values instead of records: counts, sums, existence, single columns.

module AsyncRecord
  class Relation
    # Computes in the database.
    module Calculations
      ONE = ->(sql) { sql << "1" }
      COUNT = ->(sql) { sql << "COUNT(*)" }
      private_constant :ONE, :COUNT

      # Counts rows, or the rows in which a column is not NULL. With {Relation#group} the result is a Hash.
      #
      # @example
      #   User.count                       # => 7
      #   User.group(:city).count          # => { "Bonn" => 3, "Graz" => 4 }
      #   User.count { |n, error| … }
      # @param column [Symbol, String, Sql, nil] `:all` means rows, as in ActiveRecord
      # @return [Integer, Hash, Pending]
      def count(column = nil, &block)
        column = nil if column == :all
        rows_counted_at_once(block, column) || perform(block) { @none ? zero(0) : counted(column) }
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
        perform(block) { @none ? zero(0) : aggregate("SUM", column, ->(value, of) { total(value, of) }) }
      end

      # @return [BigDecimal, Float, nil, Hash, Pending] a Float only for columns of floats
      def average(column, &block)
        perform(block) { @none ? zero(nil) : aggregate("AVG", column, ->(value, of) { mean(value, of) }) }
      end

      # @return [Object, nil, Hash, Pending]
      def minimum(column, &block)
        perform(block) { @none ? zero(nil) : aggregate("MIN", column, ->(value, of) { loaded_value(value, of) }) }
      end

      # @return [Object, nil, Hash, Pending]
      def maximum(column, &block)
        perform(block) { @none ? zero(nil) : aggregate("MAX", column, ->(value, of) { loaded_value(value, of) }) }
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
        pluck(*model.key_columns, &block)
      end

      # @example
      #   User.exists?(name: "ann")
      # @return [Boolean, Pending] whether any row matches
      def exists?(condition = nil, *binds, **named, &block)
        condition = model.key_condition(condition) unless queryable?(condition)
        where(condition, *binds, **named).any?(&block)
      end

      # With arguments Array's meaning, over the loaded records.
      #
      # @return [Boolean, Pending]
      def any?(*pattern, &block)
        return to_a.any?(*pattern) unless pattern.empty?

        at_once(block, :any_row?, computed: :one, write: ONE) { up_to(1) } || perform(block) { present_now? }
      end

      # @return [Boolean, Pending]
      def empty?(&block)
        at_once(block, :no_row?, computed: :one, write: ONE) { up_to(1) } || perform(block) { !present_now? }
      end

      # @return [Boolean, Pending] whether more than one row matches
      def many?(&block)
        perform(block) { rows_up_to(2) > 1 }
      end

      # With arguments Array's meaning, over the loaded records.
      #
      # @return [Boolean, Pending] whether exactly one row matches
      def one?(*pattern, &block)
        return to_a.one?(*pattern) unless pattern.empty?

        perform(block) { rows_up_to(2) == 1 }
      end

      # With arguments Array's meaning, over the loaded records.
      #
      # @return [Boolean, Pending]
      def none?(*pattern, &block)
        pattern.empty? ? empty?(&block) : to_a.none?(*pattern)
      end

      protected

      def plucked(names, block = nil)
        with(:@selections, names.freeze).fetch_values(block)
      end

      def fetch_values(block)
        fetch(block, :plucked_from)
      end

      # @return [Array] the values of what is selected
      def plucked_from(rows)
        kinds = loading_kinds(selections)
        return Array.new(rows.size) { |index| loaded_row(rows.row(index), kinds) } unless selections.one?

        values = rows.values_at_column(0)
        kinds ? values.map { |value| Type.load(kinds.first, value) } : values
      end

      # @return [Array, nil] the kinds of what the driver cannot read as the model wants it; nil if there is nothing
      def loading_kinds(names)
        return if model.retyped.empty?

        kinds = names.map { |name| name.is_a?(Sql) ? nil : model.retyped[model.table[name]&.name] }
        kinds if kinds.any?
      end

      def loaded_row(values, kinds)
        return values unless kinds

        values.zip(kinds).map { |value, kind| kind ? Type.load(kind, value) : value }
      end

      def without_order
        orders.empty? ? self : with(:@orders, [].freeze)
      end

      # @param computed [Symbol, Array, nil] as in {Shapes#statement}; nil where `write` says more than that
      def select_with(write, computed = nil)
        (computed && remembered_statement(computed, write)) ||
          Compiler::Select.new(compiler, self).write_with(&write).statement
      end

      def any_row?(rows)
        !rows.empty?
      end

      def no_row?(rows)
        rows.empty?
      end

      def first_value(rows)
        rows.row(0)&.first
      end

      private

      def present_now?
        rows_up_to(1).positive?
      end

      def rows_up_to(count)
        return 0 if @none

        run(up_to(count).select_with(ONE, :one)).size
      end

      def up_to(count)
        (limit_value ? self : limit(count)).without_order
      end

      # Whether a plain COUNT(*) counts what it would return.
      def countable?
        groups.empty? && !(limit_value || offset_value || distinct?)
      end

      def queryable?(condition)
        condition.nil? || condition.is_a?(Hash) || condition.is_a?(String) || condition.is_a?(Sql)
      end

      def zero(value)
        groups.empty? ? value : {}
      end

      def rows_counted_at_once(block, column)
        return if column || !countable?

        at_once(block, :first_value, computed: :count, write: COUNT) { without_order }
      end

      def counted(column)
        return first_value(run(without_order.select_with(COUNT, :count))) if column.nil? && countable?

        column = column_name(column, "count") if column
        if groups.empty? && (limit_value || offset_value || (distinct? && column.nil?) || distinct_columns)
          return count_subquery(column)
        end

        grouped_or_single(->(sql) { write_count(sql, column) }, nil)
      end

      def write_count(sql, column)
        return COUNT.call(sql) if column.nil?

        sql << (distinct? ? "COUNT(DISTINCT " : "COUNT(")
        sql.expression(column)
        sql << ")"
      end

      # A limit or a distinct selection counts what it would return.
      def count_subquery(column)
        outer = compiler
        inner = column && selections.nil? ? select(column) : self
        outer << "SELECT COUNT(*) FROM ("
        outer.subquery(inner, distinct? || inner.selections ? nil : [Sql.new("1")])
        outer << ") AS counted"
        run(outer.statement).row(0).first
      end

      # @yieldparam value [Object] what the database computed
      # @yieldparam of [Column, nil] the column it was computed of
      def aggregate(function, column, convert)
        column = column_name(column, function.downcase)
        write = lambda do |sql|
          sql << function << (distinct? ? "(DISTINCT " : "(")
          sql.expression(column)
          sql << ")"
        end
        of = column.is_a?(Sql) ? nil : model.table && model.table[column]
        grouped_or_single(write, ->(value) { convert.call(value, of) })
      end

      # Databases sum whole numbers to decimals and decimals to floats; what was exact stays so.
      def total(value, of)
        return value || 0 unless of && value

        value = Type.cast(of.stored_kind, value)
        value.is_a?(BigDecimal) && of.scale && value.finite? ? value.round(of.scale) : value
      end

      def mean(value, of)
        return value unless of && value

        Type.cast(of.stored_kind == :float ? :float : :decimal, value)
      end

      def loaded_value(value, of)
        of ? Type.load(of.kind, Type.cast(of.stored_kind, value)) : value
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
        kinds = loading_kinds(groups)
        Array.new(rows.size) do |index|
          *key, value = rows.row(index)
          key = loaded_row(key, kinds)
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
