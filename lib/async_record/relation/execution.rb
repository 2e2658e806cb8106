# frozen_string_literal: true

# Owns the running of a relation: which database and transaction, which of the three styles, and the making of records
# from rows. Refuses to know what a terminal method means.

module AsyncRecord
  class Relation
    # Runs statements for the terminal methods.
    module Execution
      # @return [Database]
      # @raise [ConfigurationError] when no database is set
      def database
        @transaction ? @transaction.database : model.database
      end

      private

      # The three styles. The work is written once, as code that waits.
      #
      # @param block [Proc, nil] gets the result later
      # @yieldreturn [Object] the result
      # @return [Object, Pending]
      def perform(block, &work)
        return yield unless block || @async

        Pending.spawn(block, &work)
      end

      # A result that needs no database.
      def answer(value, block)
        perform(block) { value }
      end

      def compiler
        Compiler.new(database.dialect, model.table_name, model.table)
      end

      def select_statement(columns = nil)
        Compiler::Select.new(compiler, self).write(columns).statement
      end

      # @return [AsyncRecord::Rows, Array, String]
      def run(statement, shape = :rows)
        database.await(statement.sql, statement.binds, shape: shape, transaction: @transaction, timeout: @timeout_value)
      end

      # @return [Array<Base>]
      def load_records
        @none ? [] : model.instantiate_all(run(select_statement))
      end

      # @return [Array<Array>] the rows as plain values
      def load_values(statement)
        rows = run(statement)
        Array.new(rows.size) { |index| rows.row(index) }
      end
    end
    private_constant :Execution
  end
end
