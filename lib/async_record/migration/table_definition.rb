# frozen_string_literal: true

# Owns what a `create_table` block says: columns, references, indexes, checks, foreign keys. Refuses to write SQL.

module AsyncRecord
  class Migration
    # The columns of a new table, collected.
    #
    # @example
    #   create_table :posts do |t|
    #     t.string :title, null: false, limit: 200
    #     t.references :user, foreign_key: { on_delete: :cascade }
    #     t.decimal :price, precision: 10, scale: 2
    #     t.virtual :total, type: :decimal, as: "price * 1.2", stored: true
    #     t.timestamps
    #   end
    class TableDefinition
      # What a column can be. Which database has which: docs/migrations.md.
      TYPES = ColumnType::WORDS

      # One column.
      ColumnDefinition = Struct.new(:name, :type, :options)

      # @return [Array<ColumnDefinition>]
      attr_reader :columns
      # @return [Array<Array(Array, Hash)>] columns and options of each index
      attr_reader :indexes
      # @return [Array<Array(String, String)>] name (or nil) and condition of each check
      attr_reader :checks
      # @return [Array<Array(String, Hash)>] target table and options of each foreign key
      attr_reader :foreign_keys
      # @return [Array<String>] the columns of a composite key; empty when a column says it itself
      attr_accessor :composite_key

      def initialize
        @columns = []
        @indexes = []
        @checks = []
        @foreign_keys = []
        @composite_key = []
      end

      # @param name [Symbol, String]
      # @param type [Symbol] one of {TYPES}, or a String in the database's own words
      # @param options [Hash] `null:`, `default:`, `limit:`, `precision:`, `scale:`, `array:`, `unsigned:`,
      #   `collation:`, `comment:`, `as:` and `stored:` (generated), `unique:`, `index:`, `primary_key:`
      # @return [void]
      def column(name, type, **options)
        unless type.is_a?(String) || TYPES.include?(type) || type == :primary_key
          raise MigrationError, "there is no column type #{type.inspect}; there are #{TYPES.join(', ')}, and any " \
                                "other as a String"
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

      # A column that the database computes from others.
      #
      # @param type [Symbol, String]
      # @param as [String] SQL
      # @param options [Hash] as for {#column}; `stored:` says whether it is kept on disk, or leaves it to the database
      # @return [void]
      def virtual(name, type:, as:, **options)
        column(name, type, as: as, **options)
      end

      # Adds `name_id` with an index.
      #
      # @param foreign_key [Boolean, Hash, String, Symbol] true for the table of that name, else the table, or options
      #   as for {Migration#add_foreign_key} with `to_table:`
      # @return [void]
      def references(*names, type: :bigint, foreign_key: false, index: true, polymorphic: false, **options)
        names.each do |name|
          column("#{name}_id", type, **options)
          column("#{name}_type", :string, **options.slice(:null)) if polymorphic
          index_of_reference(name, polymorphic, index) if index
          key_of_reference(name, foreign_key) if foreign_key
        end
      end
      alias belongs_to references

      # Adds `created_at` and `updated_at`.
      # @return [void]
      def timestamps(null: false, **options)
        column(:created_at, :datetime, null: null, **options)
        column(:updated_at, :datetime, null: null, **options)
      end

      # @param columns [Array<Symbol, String>, Sql]
      # @param options [Hash] as for {Migration#add_index}
      # @return [void]
      def index(columns, **options)
        @indexes << [Array(columns), options]
      end

      # @param condition [String] SQL that must be true for every row
      # @return [void]
      def check(condition, name: nil)
        @checks << [name, condition.to_s]
      end
      alias check_constraint check

      # @param to_table [Symbol, String]
      # @param options [Hash] as for {Migration#add_foreign_key}
      # @return [void]
      def foreign_key(to_table, **options)
        @foreign_keys << [to_table.to_s, options]
      end

      private

      def index_of_reference(name, polymorphic, options)
        columns = polymorphic ? ["#{name}_type", "#{name}_id"] : ["#{name}_id"]
        index(columns, **(options.is_a?(Hash) ? options : {}))
      end

      def key_of_reference(name, key)
        options = key.is_a?(Hash) ? key : {}
        table = options[:to_table] || (key.is_a?(Hash) || key == true ? Inflector.pluralize(name.to_s) : key)
        foreign_key(table, column: "#{name}_id", **options.reject { |option, _| option == :to_table })
      end
    end
  end
end
