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
      # ISO 8601. What the model reads in its own way (an enum kept as a number, a type of the program's own) takes the
      # way through Ruby instead.
      #
      # @example
      #   render_json Post.order(:id).select(:id, :title).to_json_bytes
      # @return [String, Pending]
      def to_json_bytes(&block)
        return answer("[]", block) if @none
        return perform(block) { own_json } unless model.declared_kinds.empty?

        fetch(block, :json) { |json| json }
      end

      # {#to_json_bytes}, for `JSON.generate` and friends; waits.
      # @return [String]
      def to_json(*_state)
        waiting.to_json_bytes
      end

      # @return [Array<Hash>] the rows as Hashes; waits
      def as_json(*_options)
        @none ? [] : retyped_hashes(run(select_statement))
      end

      # Asks nothing of the database.
      # @return [String]
      def inspect
        "#<#{self.class} #{inspected_sql}>"
      end

      protected

      def run_json
        run(select_statement, :json)
      end

      private

      def own_json
        reads_itself? ? json_of(run(select_statement)) : run_json
      end

      # @return [Boolean] whether the model reads a column that is shown in its own way
      def reads_itself?
        !(model.declared_kinds.empty? || (names_shown & model.retyped.keys).empty?)
      end

      # @return [String] JSON made of objects
      def json_of(rows)
        JSON.generate(retyped_hashes(rows).map { |row| row.transform_values { |value| Type.for_json(value) } })
      end

      def names_shown
        selections ? selections.grep_v(Sql).map { |name| shown_name(name) } : model.table!.names
      end

      def shown_name(name)
        name = name.first if name.is_a?(Array)
        model.table && model.table[name]&.name
      end

      def retyped_hashes(rows)
        retyped = model.retyped
        rows.to_a.each do |row|
          retyped.each { |name, kind| row[name] = Type.load(kind, row[name]) if row.key?(name) }
        end
      end

      def inspected_sql
        table = model.known_table
        compiler = Compiler.new(model.dialect_for_display, model.table_name, table)
        statement = Compiler::Select.new(compiler, self).write(table || selections ? nil : [Sql.new("*")]).statement
        "#{statement.sql} #{statement.binds.inspect}"
      rescue Error => error
        error.message
      end
    end
    private_constant :Output
  end
end
