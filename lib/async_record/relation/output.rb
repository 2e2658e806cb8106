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
      # ISO 8601. What the relation preloads comes inside: lists as arrays, single records as an object or null.
      #
      # @example
      #   render_json Post.order(:id).select(:id, :title).to_json_bytes
      #   Post.preload(:comments, user: :team).to_json_bytes
      #   Post.to_json_bytes(only: %i[id title], include: { comments: { only: :body, include: :author } })
      # @param options [Hash] `only:` or `except:` name columns; `include:` names associations, each with such options,
      #   and counts instead of what is preloaded
      # @return [String, Pending]
      # @raise [UnknownColumn, UnknownAssociation]
      def to_json_bytes(**options, &block)
        return answer("[]", block) if @none
        return fetch(block, :json) { |json| json } if options.empty? && @preloads.nil?

        perform(block) { shaped_json(options) }
      end

      # {#to_json_bytes}, for `JSON.generate` and friends; waits.
      # @return [String]
      def to_json(*state)
        waiting.to_json_bytes(**JsonShape.options_in(state))
      end

      # @return [Array<Hash>] the rows as Hashes; what is preloaded or included inside, then all as JSON has it; waits
      def as_json(*arguments)
        options = JsonShape.options_in(arguments)
        return JSON.parse(waiting.to_json_bytes(**options)) unless options.empty? && @preloads.nil?

        run(select_statement).to_a
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

      def json
        run(select_statement, :json)
      end

      def shaped_json(options)
        shape = JsonShape.of(model, preloads: @preloads, **options)
        return flat_json(shape) if shape.plain? && selections.nil?
        return NestedJson.write(self, shape) unless @transaction

        Context.with(@transaction.database, @transaction) { NestedJson.write(self, shape) }
      end

      private

      def flat_json(shape)
        relation = select(*(shape.only || (model.column_names - shape.except)))
        relation.json
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
