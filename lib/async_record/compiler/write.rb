# frozen_string_literal: true

# Owns INSERT, UPDATE and DELETE. Columns of a SET or an INSERT list stand unqualified, as SQL wants them; the names are
# checked like all others. Refuses to choose defaults: what is not given is left to the database.

module AsyncRecord
  class Compiler
    # Writes statements that change rows.
    class Write
      # @param compiler [Compiler]
      # @param model [Class]
      def initialize(compiler, model)
        @compiler = compiler
        @model = model
        @dialect = compiler.dialect
      end

      # @param columns [Array<String, Symbol>]
      # @param rows [Array<Array>] values in the order of the columns
      # @param upsert [Hash, nil] `conflict:` columns and `updates:` columns or nil to skip
      # @param returning [Array, nil] columns; nil for none
      # @return [Compiler]
      def insert(columns, rows, upsert: nil, returning: nil)
        @compiler << "INSERT INTO "
        @compiler.source
        columns.empty? ? @compiler << @dialect.default_values : values(columns, rows)
        upsert_clause(upsert, columns) if upsert
        returning(returning)
      end

      # @param changes [Hash] column to value; a trusted {Sql} is written as it is
      # @param relation [Relation]
      # @return [Compiler]
      def update(changes, relation, returning: nil)
        @compiler << "UPDATE "
        @compiler.source
        @compiler << " SET "
        @compiler.join(changes, ", ") do |column, value|
          @compiler << bare(column) << " = "
          value.is_a?(Sql) ? @compiler.expression(value) : @compiler.bind_for(column, value)
        end
        restrict(relation)
        returning(returning)
      end

      # @param relation [Relation]
      # @return [Compiler]
      def delete(relation, returning: nil)
        @compiler << "DELETE FROM "
        @compiler.source
        restrict(relation)
        returning(returning)
      end

      private

      # The name alone, after the check that the table has it; of an alias, the column's.
      def bare(column)
        @compiler.column(column)
        table = @model.table
        @dialect.quote((table && table[column]&.name) || column)
      end

      def values(columns, rows)
        @compiler << " (" << columns.map { |column| bare(column) }.join(", ") << ") VALUES "
        @compiler.join(rows, ", ") do |row|
          @compiler.parenthesized do
            @compiler.join(columns.zip(row), ", ") { |column, value| value(column, value) }
          end
        end
      end

      def value(column, value)
        value.is_a?(Sql) ? @compiler.expression(value) : @compiler.bind_for(column, value)
      end

      def upsert_clause(upsert, columns)
        conflict = upsert.fetch(:conflict).map { |column| bare(column) }
        updates = upsert[:updates]
        conflict = columns.first(1).map { |column| bare(column) } if conflict.empty? && !@dialect.conflict_target?
        if updates.is_a?(Sql)
          @compiler << @dialect.upsert_head(conflict)
          @compiler.expression(updates)
        else
          @compiler << @dialect.upsert_clause(conflict, updates&.map { |column| bare(column) })
        end
      end

      # A limited, ordered, joined or grouped relation is narrowed by key, since UPDATE and DELETE know no such clauses.
      def restrict(relation)
        return Select.new(@compiler, relation).conditions(" WHERE ", relation.conditions) unless relation.complex?

        keys = @model.key_columns
        @compiler << " WHERE "
        key_list(keys)
        @compiler << " IN "
        @compiler.parenthesized { keys_of(relation.reselect(*keys)) }
      end

      def key_list(keys)
        return @compiler << @compiler.column(keys.first) if keys.one?

        @compiler.parenthesized { @compiler.join(keys, ", ") { |key| @compiler << @compiler.column(key) } }
      end

      # MySQL does not read the table that it changes, except by way of a derived one.
      def keys_of(relation)
        return @compiler.subquery(relation) if @dialect.reads_its_target?

        @compiler << "SELECT * FROM "
        @compiler.parenthesized { @compiler.subquery(relation) }
        @compiler << " AS narrowed"
      end

      def returning(columns)
        return @compiler unless columns

        list = columns.map { |column| column.is_a?(Sql) ? column.text : bare(column) }.join(", ")
        @compiler << @dialect.returning_clause(list)
      end
    end
  end
end
