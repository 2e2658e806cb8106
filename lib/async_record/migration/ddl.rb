# frozen_string_literal: true

# Owns the SQL of schema changes, per dialect. One method per command; each returns statements and runs none.

module AsyncRecord
  class Migration
    # Writes CREATE, ALTER and DROP.
    class Ddl
      # MySQL wants a length for every VARCHAR.
      MYSQL_STRING = 255
      private_constant :MYSQL_STRING

      # @param dialect [Dialect]
      def initialize(dialect)
        @dialect = dialect
      end

      # @return [Array<String>]
      def create_table(name, definition, if_not_exists: false)
        parts = definition.columns.map { |column| column_sql(column) }
        parts += definition.checks.map { |check| check_sql(*check) }
        table = "CREATE TABLE #{'IF NOT EXISTS ' if if_not_exists}#{quote(name)} (#{parts.join(', ')})"
        [table, *definition.indexes.flat_map { |columns, options| add_index(name, columns, **options) }]
      end

      # @return [Array<String>]
      def drop_table(name, if_exists: false)
        ["DROP TABLE #{'IF EXISTS ' if if_exists}#{quote(name)}"]
      end

      # @return [Array<String>]
      def rename_table(name, new_name)
        ["ALTER TABLE #{quote(name)} RENAME TO #{quote(new_name)}"]
      end

      # @return [Array<String>]
      def add_column(table, name, type, **options)
        definition = TableDefinition.new
        definition.column(name, type, **options)
        ["ALTER TABLE #{quote(table)} ADD COLUMN #{column_sql(definition.columns.first)}"]
      end

      # @return [Array<String>]
      def remove_column(table, name, *_type, **_options)
        ["ALTER TABLE #{quote(table)} DROP COLUMN #{quote(name)}"]
      end

      # @return [Array<String>]
      def rename_column(table, name, new_name)
        ["ALTER TABLE #{quote(table)} RENAME COLUMN #{quote(name)} TO #{quote(new_name)}"]
      end

      # @return [Array<String>]
      def add_index(table, columns, unique: false, name: nil, where: nil, if_not_exists: false, concurrently: false)
        columns = Array(columns)
        name ||= index_name(table, columns)
        ["CREATE #{'UNIQUE ' if unique}INDEX #{'CONCURRENTLY ' if concurrently && @dialect.name == :postgresql}" \
         "#{'IF NOT EXISTS ' if if_not_exists}#{quote(name)} ON #{quote(table)} " \
         "(#{columns.map { |column| index_column(column) }.join(', ')})#{" WHERE #{where}" if where}"]
      end

      # @return [Array<String>]
      def remove_index(table, columns = nil, name: nil, if_exists: false, **_options)
        name ||= index_name(table, Array(columns))
        on = " ON #{quote(table)}" if @dialect.name == :mysql
        ["DROP INDEX #{'IF EXISTS ' if if_exists}#{quote(name)}#{on}"]
      end

      # @return [Array<String>]
      def execute(sql)
        Fragment.statements(sql)
      end

      private

      def quote(name)
        @dialect.quote(name.to_s)
      end

      def index_column(column)
        column.is_a?(Sql) ? "(#{column.text})" : quote(column)
      end

      def index_name(table, columns)
        "index_#{table}_on_#{columns.map { |column| column.to_s.gsub(/\W+/, '_') }.join('_and_')}"
      end

      def column_sql(column)
        return "#{quote(column.name)} #{@dialect.types.fetch(:primary_key)}" if column.type == :primary_key

        [quote(column.name), type_sql(column.type, column.options), *constraints(column.options)].join(" ")
      end

      def type_sql(type, options)
        return type if type.is_a?(String)

        "#{@dialect.types.fetch(type)}#{size_sql(type, options)}"
      end

      def size_sql(type, options)
        limit, precision, scale = options.values_at(:limit, :precision, :scale)
        limit ||= MYSQL_STRING if type == :string && @dialect.name == :mysql
        return "(#{Integer(limit)})" if limit && %i[string binary blob].include?(type)
        return "" unless type == :decimal && precision

        "(#{[precision, scale].compact.map { |number| Integer(number) }.join(', ')})"
      end

      def constraints(options)
        parts = []
        parts << "PRIMARY KEY" if options[:primary_key]
        parts << "NOT NULL" if options[:null] == false || options[:primary_key]
        parts << "DEFAULT #{literal(options[:default])}" if options.key?(:default) && !options[:default].nil?
        parts << "UNIQUE" if options[:unique]
        parts << "REFERENCES #{quote(options[:references])} (#{quote('id')})" if options[:references]
        parts
      end

      def check_sql(name, condition)
        "#{"CONSTRAINT #{quote(name)} " if name}CHECK (#{condition})"
      end

      # DDL takes no binds, so a default is the one place where a value is written as text.
      def literal(value)
        case value
        when true, false then @dialect.boolean(value)
        when Sql then value.text.match?(/\A\w+\z/) ? value.text : "(#{value.text})"
        when Numeric then @dialect.bind(value).to_s
        when Hash, Array then text(JSON.generate(value))
        else text(@dialect.bind(value).to_s)
        end
      end

      def text(value)
        raise MigrationError, "a default cannot hold a NUL byte" if value.include?("\0")

        value = value.gsub("\\", "\\\\\\\\") if @dialect.backslash_escapes?
        "'#{value.gsub("'", "''")}'"
      end
    end
    private_constant :Ddl
  end
end
