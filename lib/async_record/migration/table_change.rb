# frozen_string_literal: true

# Owns the words of `change_table`: each is the command of the same name on that table.

module AsyncRecord
  class Migration
    # Changes of one table.
    class TableChange
      # @api private
      def initialize(migration, table)
        @migration = migration
        @table = table
      end

      # @return [void]
      def column(name, type, **options)
        @migration.add_column(@table, name, type, **options)
      end

      TableDefinition::TYPES.each do |type|
        define_method(type) do |*names, **options|
          names.each { |name| column(name, type, **options) }
        end
      end

      {
        index: :add_index, remove_index: :remove_index, rename_index: :rename_index, foreign_key: :add_foreign_key,
        remove_foreign_key: :remove_foreign_key, check_constraint: :add_check_constraint,
        remove_check_constraint: :remove_check_constraint, rename: :rename_column, change: :change_column,
        change_default: :change_column_default, change_null: :change_column_null, remove: :remove_columns,
        timestamps: :add_timestamps, remove_timestamps: :remove_timestamps
      }.each do |word, command|
        define_method(word) do |*arguments, **options|
          @migration.public_send(command, @table, *arguments, **options)
        end
      end

      # @return [void]
      def references(*names, **options)
        names.each { |name| @migration.add_reference(@table, name, **options) }
      end
      alias belongs_to references

      # @return [void]
      def remove_references(*names, **options)
        names.each { |name| @migration.remove_reference(@table, name, **options) }
      end

      # @return [void]
      def virtual(name, type:, as:, **options)
        column(name, type, as: as, **options)
      end
    end
  end
end
