# frozen_string_literal: true

# Owns the SQL of schema changes as the standard has it; ddl/*.rb say what each database does otherwise. One method per
# command; each returns statements and runs none. A change that needs the present definition asks its reader for it.

require "digest"
require_relative "ddl/constraints"

module AsyncRecord
  class Migration
    # Writes CREATE, ALTER and DROP.
    class Ddl
      # A statement that must not run inside a transaction, and the one that clears up when it fails.
      Outside = Struct.new(:sql, :repair)

      include Constraints

      # @param dialect [Dialect]
      # @param reader [#call] SQL and binds in, rows out
      def self.for(dialect, &reader)
        { sqlite: SQLite, postgresql: PostgreSQL, mysql: MySQL }.fetch(dialect.name).new(dialect, reader)
      end

      def initialize(dialect, reader)
        @dialect = dialect
        @reader = reader
      end

      # @return [Array<String>]
      def create_table(name, definition, if_not_exists: false, force: false, comment: nil, options: nil,
                       temporary: false)
        parts = table_parts(name, definition)
        head = "CREATE #{'TEMPORARY ' if temporary}TABLE #{'IF NOT EXISTS ' if if_not_exists}#{quote_table(name)}"
        table = "#{head} (#{parts.join(', ')})#{table_options(comment, options)}"
        [*(drop_table(name, if_exists: true, force: force) if force), table,
         *definition.indexes.flat_map { |columns, index| add_index(name, columns, **index) },
         *comments(name, definition, comment)]
      end

      # @return [Array<String>]
      def drop_table(name, _definition = nil, if_exists: false, force: false, **_options)
        ["DROP TABLE #{'IF EXISTS ' if if_exists}#{quote_table(name)}#{cascade(force)}"]
      end

      # @return [Array<String>]
      def rename_table(name, new_name)
        ["ALTER TABLE #{quote_table(name)} RENAME TO #{quote_table(new_name)}"]
      end

      # @return [Array<String>]
      def add_column(table, name, type, if_not_exists: false, **options)
        return [] if if_not_exists && column?(table, name)

        column = one_column(name, type, options)
        ["ALTER TABLE #{quote_table(table)} ADD COLUMN #{column_sql(column)}", *column_comment(table, column)]
      end

      # @return [Array<String>]
      def remove_column(table, name, *_type, if_exists: false, **_options)
        return [] if if_exists && !column?(table, name)

        ["ALTER TABLE #{quote_table(table)} DROP COLUMN #{quote(name)}"]
      end

      # @return [Array<String>]
      def rename_column(table, name, new_name)
        ["ALTER TABLE #{quote_table(table)} RENAME COLUMN #{quote(name)} TO #{quote(new_name)}"]
      end

      # @return [Array<String>]
      def change_column_default(table, name, default)
        change = default.nil? ? "DROP DEFAULT" : "SET DEFAULT #{literal(default)}"
        ["ALTER TABLE #{quote_table(table)} ALTER COLUMN #{quote(name)} #{change}"]
      end

      # @return [Array<String, Outside>]
      def add_index(table, columns, name: nil, **options)
        [index_sql(table, Array(columns), name || index_name(table, columns), options)]
      end

      # @return [Array<String, Outside>]
      def remove_index(table, columns = nil, name: nil, if_exists: false, **_options)
        ["DROP INDEX #{'IF EXISTS ' if if_exists}#{quote(name || index_name(table, columns))}"]
      end

      # PostgreSQL's alone; the others say what to do instead.
      %i[create_enum drop_enum add_enum_value rename_enum_value].each do |command|
        define_method(command) { |*| refuse(command, "an enum column: t.enum :state, values: %w[a b]") }
      end
      %i[enable_extension disable_extension].each do |command|
        define_method(command) { |*| refuse(command, "nothing: extensions are PostgreSQL's") }
      end

      # @return [Array<String>]
      def execute(sql)
        Sources.statements(sql, @dialect)
      end

      # What is undone by doing nothing.
      # @return [Array]
      def nothing
        []
      end

      private

      def refuse(command, nearest)
        raise MigrationError, "#{command} works on PostgreSQL only; here take #{nearest}"
      end

      def quote(name)
        @dialect.quote(name.to_s)
      end

      def quote_table(name)
        @dialect.quote_table(name.to_s)
      end

      def list(names)
        Array(names).map { |name| quote(name) }.join(", ")
      end

      def literal(value)
        Literal.of(value, @dialect)
      end

      # @return [Array<Hash>]
      def read(sql, *binds)
        @reader.call(sql, binds)
      end

      def one_column(name, type, options)
        definition = TableDefinition.new
        definition.column(name, type, **options)
        definition.columns.first
      end

      def table_parts(name, definition)
        parts = definition.columns.map { |column| column_sql(column) }
        parts << "PRIMARY KEY (#{list(definition.composite_key)})" if definition.composite_key.any?
        parts += definition.checks.map { |check| check_sql(*check) }
        parts + definition.foreign_keys.map { |target, options| foreign_key_sql(name, target, **options) }
      end

      def table_options(_comment, options)
        options && " #{options}"
      end

      def cascade(_force)
        ""
      end

      def comments(_name, _definition, _comment)
        []
      end

      def column_comment(_table, _column)
        []
      end

      def column?(table, name)
        read(*@dialect.columns_query(table).then { |sql, binds| [sql, *binds] }).any? { |row| row["name"] == name.to_s }
      end

      def column_sql(column)
        return "#{quote(column.name)} #{@dialect.types.fetch(:primary_key)}" if column.type == :primary_key

        [quote(column.name), ColumnType.sql(column.type, column.options, @dialect),
         *constraints(column.name, column.options, column.type)].join(" ")
      end

      def constraints(name, options, type)
        parts = []
        parts << "COLLATE #{collation(options[:collation])}" if options[:collation]
        parts << generated(options) if options[:as]
        parts << "PRIMARY KEY" if options[:primary_key]
        parts << "NOT NULL" if options[:null] == false || options[:primary_key]
        parts << "DEFAULT #{default_sql(type, options)}" unless options[:default].nil?
        parts << "UNIQUE" if options[:unique]
        parts << "CHECK (#{quote(name)} IN (#{values_sql(options)}))" if checked_enum?(type, options)
        parts
      end

      def collation(name)
        quote(name)
      end

      def default_sql(_type, options)
        literal(options[:default])
      end

      def generated(options)
        "GENERATED ALWAYS AS (#{options[:as]}) #{options[:stored] ? 'STORED' : 'VIRTUAL'}"
      end

      def checked_enum?(type, options)
        type == :enum && options[:values] && !options[:enum_type]
      end

      def values_sql(options)
        options[:values].map { |value| literal(value) }.join(", ")
      end

      def index_sql(table, columns, name, options)
        "CREATE #{'UNIQUE ' if options[:unique]}INDEX #{'IF NOT EXISTS ' if options[:if_not_exists]}#{quote(name)} " \
          "ON #{quote_table(table)} (#{columns.map { |column| index_column(column, options) }.join(', ')})" \
          "#{" WHERE #{options[:where]}" if options[:where]}"
      end

      def index_column(column, options)
        text = column.is_a?(Sql) ? "(#{column.text})" : quote(column)
        order = options[:order].is_a?(Hash) ? options[:order].transform_keys(&:to_s)[column.to_s] : options[:order]
        order ? "#{text} #{order_words(order)}" : text
      end

      def order_words(order)
        words = order.to_s.upcase.tr("_", " ")
        return words if words.match?(/\A(?:ASC|DESC)(?: NULLS (?:FIRST|LAST))?\z/)

        raise MigrationError, "an index is ordered :asc or :desc, not #{order.inspect}"
      end

      def index_name(table, columns)
        raise MigrationError, "say which index of #{table}: its columns or name:" if Array(columns).empty?

        words = Array(columns).map { |column| column.to_s.gsub(/\W+/, "_") }
        short("index_#{table.to_s.tr('.', '_')}_on_#{words.join('_and_')}")
      end

      # A name that would be too long ends in a digest, so that two do not become the same.
      def short(name)
        most = [@dialect.max_identifier, 63].min
        return name if name.bytesize <= most

        "#{name.byteslice(0, most - 11).scrub('')}_#{Digest::SHA256.hexdigest(name)[0, 10]}"
      end
    end
    private_constant :Ddl
  end
end

require_relative "ddl/sqlite"
require_relative "ddl/postgresql"
require_relative "ddl/mysql"
