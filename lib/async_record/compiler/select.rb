# frozen_string_literal: true

# Owns the order of clauses in a SELECT. Refuses to write values and names itself: the compiler does.

module AsyncRecord
  class Compiler
    # Writes a relation as a SELECT.
    class Select
      # @param compiler [Compiler]
      # @param relation [Relation]
      # @param inner [Boolean] whether it stands in another statement, whose tables it may name, too
      def initialize(compiler, relation, inner: false)
        @compiler = compiler
        @relation = relation
        compiler.asked_of(relation.model) unless inner || relation.source || relation.join_sources.any?(Sql)
      end

      # @param columns [Array, nil] what to select if the relation does not say
      # @return [Compiler]
      def write(columns = nil)
        plan_joins
        @compiler << "SELECT "
        distinct
        list(@relation.selections || columns)
        body
      end

      # Writes the clauses after an own list: aggregates, existence tests.
      # @yield writes what stands between SELECT and FROM
      # @return [Compiler]
      def write_with
        plan_joins
        @compiler << "SELECT "
        yield @compiler
        body
      end

      # FROM and everything after it.
      # @return [Compiler]
      def body
        @compiler << " FROM "
        source
        @joins&.write
        conditions(" WHERE ", @relation.conditions)
        group
        conditions(" HAVING ", @relation.havings)
        order
        limit
        @compiler << @compiler.dialect.lock_clause(@relation.lock_mode) if @relation.lock_mode
        @compiler
      end

      # @return [void]
      def conditions(keyword, nodes)
        return if nodes.empty?

        @compiler << keyword
        @compiler.join(nodes, " AND ") { |node| node.write(@compiler) }
      end

      private

      def distinct
        return unless @relation.distinct?

        columns = @relation.distinct_columns
        return @compiler << "DISTINCT " unless columns

        unless @compiler.dialect.distinct_on?
          raise NotSupported, "DISTINCT ON is PostgreSQL's alone; group by the columns, or ask with a window " \
                                    "function in AsyncRecord.sql"
        end
        @compiler << "DISTINCT ON ("
        @compiler.join(columns, ", ") { |column| @compiler.expression(column) }
        @compiler << ") "
      end

      # A subquery takes the table's name, so that everything else stays as it is.
      def source
        inner = @relation.source
        return @compiler.source unless inner

        @compiler.parenthesized { inner.is_a?(Sql) ? @compiler.expression(inner) : @compiler.subquery(inner) }
        @compiler << " AS "
        @compiler.source
      end

      def list(columns)
        return @compiler.all_columns if columns.nil? || columns.empty?

        @compiler.join(columns, ", ") { |column| selected(column) }
      end

      def selected(column)
        return @compiler.expression(column) unless column.is_a?(Array)

        @compiler.expression(column.first)
        @compiler << " AS " << @compiler.dialect.quote(column.last)
      end

      def plan_joins
        sources = @relation.join_sources
        @joins = Joins.new(@compiler, @relation.model).plan(sources) unless sources.empty?
      end

      def group
        return if @relation.groups.empty?

        @compiler << " GROUP BY "
        @compiler.join(@relation.groups, ", ") { |column| @compiler.expression(column) }
      end

      def order
        return if @relation.orders.empty?

        @compiler << " ORDER BY "
        @compiler.join(@relation.orders, ", ") { |term| order_term(term) }
      end

      def order_term((column, direction, nulls))
        return @compiler.expression(column) if direction.nil?
        return @compiler << @compiler.dialect.order_term(@compiler.column(column), direction, nulls) if nulls

        @compiler << @compiler.column(column) << (direction == :desc ? " DESC" : " ASC")
      end

      # The placeholders are made before the clause that holds them: limit, then offset, as every dialect writes them.
      def limit
        limit = placeholder(@relation.limit_value)
        offset = placeholder(@relation.offset_value)
        return @compiler << @compiler.dialect.limit_clause(limit, offset) if offset

        @compiler << " LIMIT " << limit if limit
      end

      def placeholder(value)
        value && @compiler.placeholder_for(value)
      end
    end
  end
end
