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

      # Runs this relation's SELECT in the three styles.
      #
      # @param finish [Symbol] the method that makes the result of rows or JSON
      # @param shape [Symbol] as in {Database#await}
      # @return [Object, Pending]
      def fetch(block, finish, shape = :rows)
        return __send__(finish, run(select_statement, shape)) unless block || @async

        at_once(block, finish, shape) || Pending.spawn(block) { __send__(finish, run(select_statement, shape)) }
      end

      # With nothing in the way a query that nobody waits for needs no fiber: its result finds its way by itself.
      #
      # @param finish [Symbol] the method of what is asked that makes the result
      # @param computed [Symbol, Array, nil] as in {Shapes#statement}, with `write` for its block
      # @yieldreturn [Relation] what is asked, if it is not this relation
      # @return [Pending, nil] nil unless it can be made and submitted here and now: no transaction that is asked in
      #   turn, no table that has to be read first, nothing to be loaded along. What the compiler refuses is refused
      #   where callbacks hear of it.
      def at_once(block, finish, shape = :rows, computed: nil, write: nil)
        database = ((block || @async) && database_at_once) || return
        shapes = model.known_table_mapping(database)&.shapes || return
        relation = block_given? ? yield : self
        statement = shapes.statement(relation, computed, &write) || return
        database.ask(statement, block, relation, finish, shape: shape, timeout: @timeout_value)
      rescue StandardError
        nil
      end

      def database_at_once
        return if @transaction || @none || @preloads

        database = model.database
        database if database.direct?
      end

      # A result that needs no database.
      def answer(value, block)
        perform(block) { value }
      end

      def compiler
        Compiler.new(database.dialect, model.table_name, model.table)
      end

      def select_statement
        remembered_statement || Compiler::Select.new(compiler, self).write.statement
      end

      # A transaction may belong to another database, with another dialect.
      def remembered_statement(computed = nil, write = nil)
        model.table_mapping&.shapes&.statement(self, computed, &write) unless @transaction
      end

      # @return [AsyncRecord::Rows, Array, String]
      def run(statement, shape = :rows)
        return AsyncRecord.using_primary { submit(statement, shape) } if @primary

        submit(statement, shape)
      end

      def submit(statement, shape)
        database.await(statement.sql, statement.binds, shape: shape, transaction: @transaction, timeout: @timeout_value)
      end

      # @return [Array<Base>, Pending]
      def load_records(block = nil)
        return answer([], block) if @none

        return perform(block) { instantiate(run(select_statement)) } if accompanied?

        fetch(block, :instantiate)
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
