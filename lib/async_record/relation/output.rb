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
      # way through Ruby instead. What the relation preloads comes inside: lists as arrays, single records as an object
      # or null.
      #
      # @example
      #   render_json Post.order(:id).select(:id, :title).to_json_bytes
      #   Post.preload(:comments, user: :team).to_json_bytes
      #   Post.to_json_bytes(only: %i[id title], include: { comments: { only: :body, include: :author } })
      # @param options [Hash] `only:` or `except:` name columns; `include:` names associations, each with such options,
      #   and counts instead of what is preloaded; `methods:` adds what records answer
      # @return [String, Pending]
      # @raise [UnknownColumn, UnknownAssociation]
      def to_json_bytes(**options, &block)
        return answer("[]", block) if @none
        return perform(block) { shaped_json(JsonShape.of(model, preloads: @preloads, **options)) } if shaped?(options)
        return perform(block) { own_json } unless model.read_by_driver?

        fetch(block, :finished_json, :json)
      end

      # {#to_json_bytes}, for `JSON.generate` and friends; waits.
      # @return [String]
      def to_json(*state, **options)
        waiting.to_json_bytes(**JsonShape.options_in(state, options))
      end

      # @return [Array<Hash>] the rows as Hashes; what is preloaded or included inside, then all as JSON has it; waits
      def as_json(*state, **options)
        options = JsonShape.options_in(state, options)
        return JSON.parse(waiting.to_json_bytes(**options)) if shaped?(options)

        @none ? [] : retyped_hashes(run(select_statement))
      end

      # @api private
      # @return [AsyncRecord::Rows]
      def rows
        run(select_statement)
      end

      # Chooses what JSON shows, and the columns by which rows are put together.
      #
      # @api private
      # @param shape [JsonShape]
      # @param found_by [Array<String>] columns by which parents find these rows
      # @return [Array(Relation, Array<String>)] and the columns that are not to be shown
      def with_keys(shape, found_by)
        needed = shape.keys(model) | found_by
        return [select(*(shape.only | needed)), []] if shape.only && selections.nil?
        return [self, []] if selections.nil?

        added = needed - selections.map { |column| column.is_a?(Array) ? column.last : column.to_s }
        [added.empty? ? self : select(*added), added]
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

      def shaped?(options)
        !(options.empty? && @preloads.nil?)
      end

      # Rust writes rows; what only Ruby can read, or answer, is written from records.
      def shaped_json(shape)
        return records_json(shape) unless shape.rows?(model)
        return flat_json(shape) if shape.plain? && selections.nil?
        return NestedJson.write(self, shape) unless @transaction

        Context.with(@transaction.database, @transaction) { NestedJson.write(self, shape) }
      end

      def records_json(shape)
        JSON.generate(waiting.preload(shape.tree).map { |record| record.shaped(shape) })
      end

      def flat_json(shape)
        select(*(shape.only || (model.column_names - shape.except))).run_json
      end

      def own_json
        reads_itself? ? json_of(run(select_statement)) : run_json
      end

      # @return [String] as it came
      def finished_json(json)
        json
      end

      # @return [Boolean] whether the model reads a column that is shown in its own way
      def reads_itself?
        !(model.retyped.empty? || (names_shown & model.retyped.keys).empty?)
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
