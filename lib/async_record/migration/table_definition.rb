# frozen_string_literal: true

# Owns what a `create_table` block says: columns, references, indexes, checks. Refuses to write SQL.

module AsyncRecord
  class Migration
    # The columns of a new table, collected.
    #
    # @example
    #   create_table :posts do |t|
    #     t.string :title, null: false, limit: 200
    #     t.references :user, foreign_key: true
    #     t.timestamps
    #   end
    class TableDefinition
      # What a column can be.
      TYPES = %i[string text integer bigint float decimal boolean date datetime time json blob binary].freeze

      # One column.
      ColumnDefinition = Struct.new(:name, :type, :options)

      # @return [Array<ColumnDefinition>]
      attr_reader :columns
      # @return [Array<Array(Array, Hash)>] columns and options of each index
      attr_reader :indexes
      # @return [Array<Array(String, String)>] name (or nil) and condition of each check
      attr_reader :checks

      def initialize
        @columns = []
        @indexes = []
        @checks = []
      end

      # @param name [Symbol, String]
      # @param type [Symbol] one of {TYPES}, or a String in the database's own words
      # @param options [Hash] `null:`, `default:`, `limit:`, `precision:`, `scale:`, `unique:`, `index:`, `primary_key:`
      # @return [void]
      def column(name, type, **options)
        unless type.is_a?(String) || TYPES.include?(type) || type == :primary_key
          raise MigrationError, "there is no column type #{type.inspect}; there are #{TYPES.join(', ')}"
        end

        index = options.delete(:index)
        @columns << ColumnDefinition.new(name.to_s, type, options)
        index(name, **(index.is_a?(Hash) ? index : {})) if index
      end

      TYPES.each do |type|
        define_method(type) do |*names, **options|
          names.each { |name| column(name, type, **options) }
        end
      end
      alias timestamp datetime

      # Adds `name_id` with an index.
      # @param foreign_key [Boolean, String, Symbol] true for the table of that name, else the table
      # @return [void]
      def references(*names, type: :bigint, foreign_key: false, index: true, polymorphic: false, **options)
        names.each do |name|
          target = foreign_key == true ? Inflector.pluralize(name.to_s) : foreign_key
          column("#{name}_id", type, **options, references: target || nil)
          column("#{name}_type", :string, **options) if polymorphic
          index(polymorphic ? ["#{name}_type", "#{name}_id"] : "#{name}_id") if index
        end
      end
      alias belongs_to references

      # Adds `created_at` and `updated_at`.
      # @return [void]
      def timestamps(null: false, **options)
        column(:created_at, :datetime, null: null, **options)
        column(:updated_at, :datetime, null: null, **options)
      end

      # @param columns [Array<Symbol, String>]
      # @return [void]
      def index(columns, **options)
        @indexes << [Array(columns).map(&:to_s), options]
      end

      # @param condition [String] SQL that must be true for every row
      # @return [void]
      def check(condition, name: nil)
        @checks << [name, condition.to_s]
      end
    end
  end
end
