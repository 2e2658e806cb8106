# frozen_string_literal: true

# Owns what a relation shows of itself: its SQL, the database's plan, and JSON made in Rust without Ruby objects.

module AsyncRecord
  class Relation
    # Shows and serialises.
    module Output
      # The statement with its placeholders; the values are in {#binds}.
      #
      # @return [String]
      def to_sql
        select_statement.sql
      end

      # @return [Array] the values for the placeholders of {#to_sql}
      def binds
        select_statement.binds
      end

      # @return [String, Pending] how the database would run the query, one step a line
      def explain(&block)
        perform(block) do
          statement = select_statement
          rows = run(Statement.new("#{database.dialect.explain}#{statement.sql}", statement.binds))
          Array.new(rows.size) { |index| rows.row(index).last.to_s }.join("\n")
        end
      end

      # The rows as a JSON array of objects. Rust makes the text: no Ruby object per row, decimals as strings, times in
      # ISO 8601.
      #
      # @example
      #   render_json Post.order(:id).select(:id, :title).to_json_bytes
      # @return [String, Pending]
      def to_json_bytes(&block)
        @none ? answer("[]", block) : fetch(block, :json) { |json| json }
      end

      # {#to_json_bytes}, for `JSON.generate` and friends; waits.
      # @return [String]
      def to_json(*_state)
        waiting.to_json_bytes
      end

      # @return [Array<Hash>] the rows as Hashes; waits
      def as_json(*_options)
        rows = run(select_statement)
        rows.to_a
      end

      # Asks nothing of the database.
      # @return [String]
      def inspect
        "#<#{self.class} #{inspected_sql}>"
      end

      private

      def inspected_sql
        table = model.known_table
        compiler = Compiler.new(model.dialect_for_display, model.table_name, table).know_only
        statement = Compiler::Select.new(compiler, self).write(table || selections ? nil : [Sql.new("*")]).statement
        "#{statement.sql} #{statement.binds.inspect}"
      rescue Error => error
        error.message
      end
    end
    private_constant :Output
  end
end
