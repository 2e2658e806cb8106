# frozen_string_literal: true

# Owns a migration as a whole: its settings, and how it runs in each direction. A command is run at once on the way up;
# on the way down the commands of `change` are collected, turned around one by one and run backwards. The commands
# themselves are in migration/commands.rb. Refuses to know files and versions: the Migrator does.

require_relative "../async_record"
require_relative "migration/column_type"
require_relative "migration/column_text"
require_relative "migration/table_definition"
require_relative "migration/sources"
require_relative "migration/ddl"
require_relative "migration/inverse"
require_relative "migration/limits"
require_relative "migration/executor"
require_relative "migration/commands"
require_relative "migration/helpers"
require_relative "migration/table_change"

module AsyncRecord
  # One step of the schema's history.
  #
  # @example
  #   class AddSlug < AsyncRecord::Migration
  #     lock_timeout 5
  #
  #     def change
  #       add_column :posts, :slug, :string
  #       add_index :posts, :slug, unique: true, concurrently: true
  #     end
  #   end
  class Migration
    # Seconds to wait for a table that others use.
    LOCK_TIMEOUT = 2
    # Commands whose last argument may say from what to what.
    CHANGES = %i[change_column_default change_table_comment change_column_comment].freeze
    private_constant :CHANGES

    class << self
      # Accepts the version brackets of Rails' migrations.
      # @return [Class]
      def [](_version)
        self
      end

      # Runs the migration outside of a transaction; each command is one of its own where that can be.
      # @return [void]
      def no_transaction!
        @no_transaction = true
      end
      alias disable_ddl_transaction! no_transaction!

      # @return [Boolean]
      def transaction?
        !@no_transaction
      end

      # How long to wait for a lock on PostgreSQL and MySQL (2 seconds unless said), and for the database on SQLite.
      #
      # @param seconds [Numeric, nil] nil for no limit
      # @return [Numeric, nil]
      def lock_timeout(*seconds)
        @lock_timeout = seconds.first if seconds.any?
        defined?(@lock_timeout) ? @lock_timeout : default_lock_timeout
      end

      # How long one statement may run; unlimited unless said.
      #
      # @param seconds [Numeric, nil]
      # @return [Numeric, nil]
      def statement_timeout(*seconds)
        @statement_timeout = seconds.first if seconds.any?
        @statement_timeout
      end

      # @return [Limits]
      # @api private
      def limits(database)
        # SQLite waits for its pool's busy_timeout unless the migration says something.
        lock = database.dialect.name == :sqlite && !defined?(@lock_timeout) ? nil : lock_timeout
        Limits.new(database, lock: lock, statement: statement_timeout)
      end

      private

      def default_lock_timeout
        superclass.respond_to?(:lock_timeout) ? superclass.lock_timeout : LOCK_TIMEOUT
      end
    end

    include Commands
    include Helpers

    # @param database [Database]
    # @param out [#puts, nil] gets the statements instead of the database when given
    # @param executor [Executor]
    def initialize(database, out: nil, executor: out ? DryExecutor.new(out) : Executor.new(database), notes: nil)
      @database = database
      @executor = executor
      @notes = notes
      @ddl = Ddl.for(database.dialect) { |sql, binds| look(sql, binds) }
      @recorded = nil
      @direction = :up
    end

    # For data that moves along: `database.query`, `database.execute`. Models work too.
    # @return [Database]
    attr_reader :database
    alias connection database

    # @return [String] short: it is part of Ruby's own error messages
    def inspect
      "#<AsyncRecord::Migration>"
    end

    # @param direction [Symbol] :up or :down
    # @return [void]
    def run(direction)
      @direction = direction
      return run_written(direction) if changeless?
      return change if direction == :up

      collect { change }.reverse.map { |command| Inverse.of(command) }.each { |command| perform(*command) }
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

    # Runs a block on the way up; going down there is nothing to do.
    # @yield only on the way up
    # @return [void]
    def up_only(&block)
      reversible { |direction| direction.up(&block) }
    end

    # Does the opposite: of a block of commands, or of an older migration.
    #
    # @example
    #   revert { create_table(:tags) { |t| t.string :name } }   # drops it; brings it back on the way down
    #   revert CreateTags
    # @param migration [Class, nil]
    # @return [void]
    def revert(migration = nil, &block)
      return in_place { opposite.then { |way| another(migration).run(way) } } if migration

      before = @direction
      @direction = opposite
      commands = collect(&block)
      @direction = before
      commands.reverse.map { |command| Inverse.of(command) }.each { |command| command(*command) }
    ensure
      @direction = before if before
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
      # @return [void]
      def up(&block)
        @migration.in_place(&block) if @direction == :up
      end

      # @yield on the way down
      # @return [void]
      def down(&block)
        @migration.in_place(&block) if @direction == :down
      end
    end

    private

    def changeless?
      !respond_to?(:change)
    end

    def run_written(direction)
      return public_send(direction) if respond_to?(direction)

      raise IrreversibleMigration, "it has `up` but no `down`; write `down`" if direction == :down

      raise MigrationError, "it has neither `change` nor `up`"
    end

    def opposite
      @direction == :up ? :down : :up
    end

    def another(migration)
      migration.new(database, executor: @executor, notes: @notes)
    end

    # Reading is right in a dry run, too.
    def look(sql, binds = [])
      return database.await(sql, binds).to_a unless @executor.dry?

      Context.outside { AsyncRecord.using_primary { database.await(sql, binds).to_a } }
    rescue QueryError => error
      raise unless @executor.dry?

      raise DryRunEnds, "from here on it depends on what would be there by now (#{error.message.lines.first.strip})"
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

      *arguments, change = arguments if CHANGES.include?(name)
      arguments << (change.is_a?(Hash) && change.key?(:to) ? change[:to] : change) if CHANGES.include?(name)
      @executor.run(@ddl.public_send(name, *arguments, **options), raw: name == :execute)
    end
  end
end
