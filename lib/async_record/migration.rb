# frozen_string_literal: true

# Owns the language of migrations. A command is run at once on the way up; on the way down the commands of `change` are
# collected, turned around one by one and run backwards. Refuses to know files and versions: the Migrator does.

require_relative "../async_record"
require_relative "migration/table_definition"
require_relative "migration/ddl"
require_relative "migration/inverse"

module AsyncRecord
  # One step of the schema's history.
  #
  # @example
  #   class AddSlug < AsyncRecord::Migration
  #     def change
  #       add_column :posts, :slug, :string
  #       add_index :posts, :slug, unique: true
  #     end
  #   end
  class Migration
    class << self
      # Accepts the version brackets of Rails' migrations.
      # @return [Class]
      def [](_version)
        self
      end

      # Runs the migration outside of a transaction.
      # @return [void]
      def no_transaction!
        @no_transaction = true
      end
      alias disable_ddl_transaction! no_transaction!

      # @return [Boolean]
      def transaction?
        !@no_transaction
      end
    end

    # @param database [Database]
    # @param out [#puts, nil] gets the statements instead of the database when given
    def initialize(database, out: nil)
      @database = database
      @ddl = Ddl.new(database.dialect)
      @out = out
      @recorded = nil
      @direction = :up
    end

    # @return [Database]
    attr_reader :database

    # @return [String] short: it is part of Ruby's own error messages
    def inspect
      "#<AsyncRecord::Migration>"
    end

    # @param direction [Symbol] :up or :down
    # @return [void]
    def run(direction)
      @direction = direction
      return public_send(direction) if changeless?
      return change if direction == :up

      collect { change }.reverse_each { |command| perform(*Inverse.of(command)) }
    end

    # Creates a table with a key column `id`.
    #
    # @param id [Boolean, Symbol] false for no key column, or its type
    # @param primary_key [String, Symbol] the key column's name
    # @yieldparam table [TableDefinition]
    # @return [void]
    def create_table(name, id: true, primary_key: :id, **options)
      definition = TableDefinition.new
      if id == true
        definition.column(primary_key, :primary_key)
      elsif id
        definition.column(primary_key, id, primary_key: true)
      end
      yield definition if block_given?
      command(:create_table, [name, definition], options)
    end

    # @yieldparam table [TableDefinition] what the table was, so that the way back is known
    # @return [void]
    def drop_table(name, **options, &block)
      return command(:drop_table, [name], options) unless block

      table = collect { create_table(name, **options.reject { |key, _| key == :if_exists }, &block) }.first
      command(:drop_table, table[1], options.slice(:if_exists))
    end

    # @param options [Hash] as for {TableDefinition#column}
    # @return [void]
    def add_column(table, name, type, unique: false, index: false, **options)
      command(:add_column, [table, name, type], options)
      add_index(table, name, unique: unique, **(index.is_a?(Hash) ? index : {})) if unique || index
    end

    # @param type [Symbol, nil] what the column was, so that the way back is known
    # @return [void]
    def remove_column(table, name, type = nil, **options)
      command(:remove_column, [table, name, type].compact, options)
    end

    # @return [void]
    def rename_column(table, name, new_name)
      command(:rename_column, [table, name, new_name], {})
    end

    # @return [void]
    def rename_table(name, new_name)
      command(:rename_table, [name, new_name], {})
    end

    # @param options [Hash] `unique:`, `name:`, `where:` (SQL), `if_not_exists:`, `concurrently:` (PostgreSQL)
    # @return [void]
    def add_index(table, columns, **options)
      command(:add_index, [table, columns], options)
    end

    # @return [void]
    def remove_index(table, columns = nil, **options)
      command(:remove_index, [table, columns].compact, options)
    end

    # Adds `name_id` with an index.
    # @return [void]
    def add_reference(table, name, **options)
      definition = TableDefinition.new
      definition.references(name, **options)
      definition.columns.each { |column| command(:add_column, [table, column.name, column.type], column.options) }
      definition.indexes.each { |columns, index| command(:add_index, [table, columns], index) }
    end

    # @return [void]
    def add_timestamps(table, null: true, **options)
      add_column(table, :created_at, :datetime, null: null, **options)
      add_column(table, :updated_at, :datetime, null: null, **options)
    end

    # Runs SQL, one or more statements.
    # @return [void]
    def execute(sql)
      command(:execute, [sql.to_s], {})
    end

    # Says what to do in each direction within `change`.
    #
    # @example
    #   reversible do |direction|
    #     direction.up { execute "update posts set slug = id" }
    #     direction.down { }
    #   end
    # @yieldparam direction [Direction]
    # @return [void]
    def reversible
      yield Direction.new(self, @direction)
    end

    # @yield only on the way up
    # @return [void]
    def up_only(&block)
      reversible { |direction| direction.up(&block) }
    end

    # Runs a block at its place whether or not commands are being collected.
    # @api private
    def in_place(&block)
      @recorded ? @recorded << [:block, [block], {}] : yield
    end

    # One direction of a {Migration#reversible}.
    class Direction
      # @api private
      def initialize(migration, direction)
        @migration = migration
        @direction = direction
      end

      # @yield on the way up
      def up(&block)
        @migration.in_place(&block) if @direction == :up
      end

      # @yield on the way down
      def down(&block)
        @migration.in_place(&block) if @direction == :down
      end
    end

    private

    def changeless?
      !respond_to?(:change)
    end

    def collect
      before = @recorded
      @recorded = []
      yield
      @recorded
    ensure
      @recorded = before
    end

    def command(name, arguments, options)
      @recorded ? @recorded << [name, arguments, options] : perform(name, arguments, options)
    end

    def perform(name, arguments, options)
      return arguments.first.call if name == :block

      @ddl.public_send(name, *arguments, **options).each { |sql| run_statement(sql) }
    end

    def run_statement(sql)
      @out ? @out.puts("#{sql};") : database.await(sql)
    end
  end
end
