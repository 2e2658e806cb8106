# frozen_string_literal: true

# Owns the words of a migration. Each says what it means and hands it on as a command: a name, arguments, options.
# Refuses to know how a command is written in SQL (Ddl) and how it is undone (Inverse).

module AsyncRecord
  class Migration
    # The commands, as in ActiveRecord where it has the same.
    module Commands
      # Creates a table with a key column `id`.
      #
      # @param id [Boolean, Symbol] false for no key column, or its type; `:uuid` is filled by the database
      # @param primary_key [String, Symbol, Array] the key column's name, or several columns of the block
      # @param options [Hash] `if_not_exists:`, `force:` (true, :cascade), `temporary:`, `comment:`, `options:` (SQL)
      # @yieldparam table [TableDefinition]
      # @return [void]
      def create_table(name, id: true, primary_key: :id, **options)
        definition = TableDefinition.new
        if primary_key.is_a?(Array) then definition.composite_key = primary_key
        elsif id then key_column(definition, id, primary_key)
        end
        yield definition if block_given?
        command(:create_table, [name, definition], options)
      end

      # Creates a table of two references without a key.
      #
      # @return [void]
      def create_join_table(one, other, table_name: nil, column_options: {}, **options)
        create_table(table_name || join_table_name(one, other), id: false, **options) do |table|
          [one, other].each do |name|
            table.column("#{Inflector.singularize(name.to_s)}_id", :bigint, null: false, **column_options)
          end
          yield table if block_given?
        end
      end

      # @yieldparam table [TableDefinition] what the table was, so that the way back is known
      # @param options [Hash] `if_exists:`, `force: :cascade` (PostgreSQL), and those of {#create_table}
      # @return [void]
      def drop_table(name, **options, &block)
        own = options.slice(:if_exists, :force)
        return command(:drop_table, [name], own) unless block

        table = collect { create_table(name, **options.reject { |key, _| own.key?(key) }, &block) }.first
        command(:drop_table, table[1], table[2].merge(own))
      end

      # @return [void]
      def drop_join_table(one, other, table_name: nil, **options, &block)
        return drop_table(table_name || join_table_name(one, other), **options) unless block

        table = collect { create_join_table(one, other, table_name: table_name, &block) }.first
        command(:drop_table, table[1], table[2].merge(options.slice(:if_exists, :force)))
      end

      # @return [void]
      def rename_table(name, new_name)
        command(:rename_table, [name, new_name], {})
      end

      # Several changes of one table.
      #
      # @example
      #   change_table :posts do |t|
      #     t.string :slug, index: { unique: true }
      #     t.remove :old, type: :text
      #   end
      # @yieldparam table [TableChange]
      # @return [void]
      def change_table(name)
        yield TableChange.new(self, name)
      end

      # @param options [Hash] as for {TableDefinition#column}, and `if_not_exists:`
      # @return [void]
      def add_column(table, name, type, unique: false, index: false, **options)
        command(:add_column, [table, name, type], options)
        add_index(table, name, unique: unique, **(index.is_a?(Hash) ? index : {})) if unique || index
      end

      # @param type [Symbol, nil] what the column was, so that the way back is known
      # @param options [Hash] `if_exists:`, and what the column was
      # @return [void]
      def remove_column(table, name, type = nil, **options)
        command(:remove_column, [table, name, type].compact, options)
      end

      # @param type [Symbol, nil] what the columns were
      # @return [void]
      def remove_columns(table, *names, type: nil, **options)
        names.each { |name| remove_column(table, name, type, **options) }
      end

      # @return [void]
      def rename_column(table, name, new_name)
        command(:rename_column, [table, name, new_name], {})
      end

      # Gives a column another type; what is not said stays. It cannot be undone by itself.
      #
      # @param options [Hash] as for {TableDefinition#column}; `using:` is SQL for the new value (PostgreSQL)
      # @return [void]
      def change_column(table, name, type, **options)
        command(:change_column, [table, name, type], options)
      end

      # @param null [Boolean]
      # @param default [Object] what rows without a value get
      # @return [void]
      def change_column_null(table, name, null, default = nil)
        command(:change_column_null, [table, name, null, default], {})
      end

      # @param default [Object, Hash] `{ from: 1, to: 2 }` can be undone
      # @return [void]
      def change_column_default(table, name, default)
        command(:change_column_default, [table, name, default], {})
      end

      # @param columns [Symbol, Array, Sql] `AsyncRecord.sql("lower(email)")` for an expression
      # @param options [Hash] `unique:`, `name:`, `where:` (SQL), `order:`, `using:`, `include:`, `opclass:`, `length:`,
      #   `type:`, `if_not_exists:`; `concurrently: true` builds it while others write
      # @return [void]
      def add_index(table, columns, algorithm: nil, **options)
        options[:concurrently] = true if algorithm == :concurrently
        command(:add_index, [table, columns], options)
      end

      # @param options [Hash] `name:`, `if_exists:`, `concurrently:`
      # @return [void]
      def remove_index(table, columns = nil, column: nil, algorithm: nil, **options)
        options[:concurrently] = true if algorithm == :concurrently
        command(:remove_index, [table, columns || column].compact, options)
      end

      # @return [void]
      def rename_index(table, name, new_name)
        command(:rename_index, [table, name, new_name], {})
      end

      # Adds `name_id` with an index, and a foreign key if told to.
      #
      # @param options [Hash] as for {TableDefinition#references}
      # @return [void]
      def add_reference(table, name, **options)
        definition = TableDefinition.new
        definition.references(name, **options)
        definition.columns.each { |column| command(:add_column, [table, column.name, column.type], column.options) }
        definition.indexes.each { |columns, index| add_index(table, columns, **index) }
        definition.foreign_keys.each { |target, key| add_foreign_key(table, target, **key) }
      end
      alias add_belongs_to add_reference

      # @return [void]
      def remove_reference(table, name, **options)
        collect { add_reference(table, name, **options) }.reverse.each do |added|
          undone, arguments, own = Inverse.of(added)
          command(undone, undone == :remove_column ? added[1] : arguments, undone == :remove_column ? added[2] : own)
        end
      end
      alias remove_belongs_to remove_reference

      # @return [void]
      def add_timestamps(table, null: true, **options)
        add_column(table, :created_at, :datetime, null: null, **options)
        add_column(table, :updated_at, :datetime, null: null, **options)
      end

      # @return [void]
      def remove_timestamps(table, null: true, **options)
        remove_columns(table, :updated_at, :created_at, type: :datetime, null: null, **options)
      end

      # @param options [Hash] `column:` and `primary_key:` (one or several), `name:`, `on_delete:` and `on_update:`
      #   (:cascade, :nullify, :restrict, :set_default, :no_action), `deferrable:` (true, :deferred),
      #   `validate: false` takes the rows as they are until {#validate_foreign_key} (PostgreSQL)
      # @return [void]
      def add_foreign_key(table, to_table, **options)
        command(:add_foreign_key, [table, to_table], options)
      end

      # @param options [Hash] `column:`, `name:`, `if_exists:`
      # @return [void]
      def remove_foreign_key(table, to_table = nil, **options)
        command(:remove_foreign_key, [table, to_table].compact, options)
      end

      # @return [void]
      def validate_foreign_key(table, to_table = nil, **options)
        command(:validate_foreign_key, [table, to_table].compact, options)
      end

      # @param condition [String] SQL that must be true for every row
      # @param options [Hash] `name:`, `validate: false` (PostgreSQL)
      # @return [void]
      def add_check_constraint(table, condition, **options)
        command(:add_check_constraint, [table, condition], options)
      end

      # @return [void]
      def remove_check_constraint(table, condition = nil, **options)
        command(:remove_check_constraint, [table, condition].compact, options)
      end

      # @return [void]
      def validate_check_constraint(table, condition = nil, **options)
        command(:validate_check_constraint, [table, condition].compact, options)
      end

      # @param comment [String, nil, Hash] `{ from: "old", to: "new" }` can be undone
      # @return [void]
      def change_table_comment(table, comment)
        command(:change_table_comment, [table, comment], {})
      end

      # (see #change_table_comment)
      def change_column_comment(table, name, comment)
        command(:change_column_comment, [table, name, comment], {})
      end

      # Makes a type of PostgreSQL. `t.enum :mood, enum_type: :mood` uses it.
      # @param values [Array<String>]
      # @return [void]
      def create_enum(name, values)
        command(:create_enum, [name, values], {})
      end

      # @param values [Array<String>, nil] what it was, so that the way back is known
      # @return [void]
      def drop_enum(name, values = nil, **options)
        command(:drop_enum, [name, values].compact, options)
      end

      # @param options [Hash] `before:`, `after:`, `if_not_exists:`
      # @return [void]
      def add_enum_value(name, value, **options)
        command(:add_enum_value, [name, value], options)
      end

      # @return [void]
      def rename_enum_value(name, from:, to:)
        command(:rename_enum_value, [name], { from: from, to: to })
      end

      # @param name [String] of an extension of PostgreSQL
      # @return [void]
      def enable_extension(name)
        command(:enable_extension, [name], {})
      end

      # @return [void]
      def disable_extension(name)
        command(:disable_extension, [name], {})
      end

      # Runs SQL, one or more statements.
      # @return [void]
      def execute(sql)
        command(:execute, [sql.to_s], {})
      end

      private

      def key_column(definition, id, name)
        return definition.column(name, :primary_key) if id == true

        options = id == :uuid ? { default: database.dialect.uuid } : {}
        definition.column(name, id, primary_key: true, **options)
      end

      def join_table_name(one, other)
        [one, other].map(&:to_s).sort.join("_")
      end
    end
  end
end
