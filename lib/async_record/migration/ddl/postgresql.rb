# frozen_string_literal: true

# Owns PostgreSQL's schema changes: concurrent indexes, constraints validated later, enum types, extensions, comments.

module AsyncRecord
  class Migration
    class Ddl
      # PostgreSQL 12 and later.
      class PostgreSQL < Ddl
        # What an index can be built as.
        METHODS = %w[btree hash gin gist brin spgist].freeze
        private_constant :METHODS

        # (see Ddl#change_column)
        # @param options [Hash] `using:` is SQL that makes the new value of the old one
        def change_column(table, name, type, using: nil, **options)
          column = "ALTER COLUMN #{quote(name)}"
          new_type = ColumnType.sql(type, options, @dialect)
          changes = ["#{column} TYPE #{new_type}#{" COLLATE #{quote(options[:collation])}" if options[:collation]}" \
                     "#{" USING #{using}" if using}"]
          changes << "#{column} #{options[:null] ? 'DROP' : 'SET'} NOT NULL" if options.key?(:null)
          changes << "#{column} #{default_change(options[:default])}" if options.key?(:default)
          ["ALTER TABLE #{quote_table(table)} #{changes.join(', ')}",
           *column_comment(table, TableDefinition::ColumnDefinition.new(name, type, options))]
        end

        # @return [Array<String>]
        def change_column_null(table, name, null, default = nil)
          fill = "UPDATE #{quote_table(table)} SET #{quote(name)} = #{literal(default)} WHERE #{quote(name)} IS NULL"
          [*(fill unless null || default.nil?),
           "ALTER TABLE #{quote_table(table)} ALTER COLUMN #{quote(name)} #{null ? 'DROP' : 'SET'} NOT NULL"]
        end

        # (see Ddl#add_index)
        def add_index(table, columns, name: nil, concurrently: false, **options)
          name ||= index_name(table, columns)
          sql = index_sql(table, Array(columns), name, options.merge(concurrently: concurrently))
          note = comment_sql("INDEX #{quote(name)}", options[:comment]) if options[:comment]
          return [sql, *note] unless concurrently

          # One that failed half way is there, never used, and in the way of the next attempt.
          [Outside.new(sql, "DROP INDEX CONCURRENTLY IF EXISTS #{quote(name)}"), *note]
        end

        # (see Ddl#remove_index)
        def remove_index(table, columns = nil, name: nil, if_exists: false, concurrently: false, **_options)
          name = quote(name || index_name(table, columns))
          return [Outside.new("DROP INDEX CONCURRENTLY IF EXISTS #{name}", nil)] if concurrently

          ["DROP INDEX #{'IF EXISTS ' if if_exists}#{name}"]
        end

        # @return [Array<String>]
        def rename_index(_table, name, new_name)
          ["ALTER INDEX #{quote(name)} RENAME TO #{quote(new_name)}"]
        end

        # @return [Array<String>]
        def validate_foreign_key(table, to_table = nil, **options)
          ["ALTER TABLE #{quote_table(table)} VALIDATE CONSTRAINT #{quote(foreign_key_name(table, to_table, options))}"]
        end

        # @return [Array<String>]
        def validate_check_constraint(table, condition = nil, name: nil)
          ["ALTER TABLE #{quote_table(table)} VALIDATE CONSTRAINT #{quote(name || check_name(table, condition))}"]
        end

        # @return [Array<String>]
        def create_enum(name, values)
          ["CREATE TYPE #{quote(name)} AS ENUM (#{values.map { |value| literal(value) }.join(', ')})"]
        end

        # @return [Array<String>]
        def drop_enum(name, _values = nil, if_exists: false)
          ["DROP TYPE #{'IF EXISTS ' if if_exists}#{quote(name)}"]
        end

        # @return [Array<String>]
        def add_enum_value(name, value, before: nil, after: nil, if_not_exists: false)
          place = { "BEFORE" => before, "AFTER" => after }.find { |_, other| other }
          ["ALTER TYPE #{quote(name)} ADD VALUE #{'IF NOT EXISTS ' if if_not_exists}#{literal(value)}" \
           "#{" #{place.first} #{literal(place.last)}" if place}"]
        end

        # @return [Array<String>]
        def rename_enum_value(name, from:, to:)
          ["ALTER TYPE #{quote(name)} RENAME VALUE #{literal(from)} TO #{literal(to)}"]
        end

        # @return [Array<String>]
        def enable_extension(name)
          ["CREATE EXTENSION IF NOT EXISTS #{quote(name)}"]
        end

        # @return [Array<String>]
        def disable_extension(name)
          ["DROP EXTENSION IF EXISTS #{quote(name)}"]
        end

        # @return [Array<String>]
        def change_table_comment(table, comment)
          [comment_sql("TABLE #{quote_table(table)}", comment)]
        end

        # @return [Array<String>]
        def change_column_comment(table, name, comment)
          [comment_sql("COLUMN #{quote_table(table)}.#{quote(name)}", comment)]
        end

        private

        def comment_sql(object, comment)
          "COMMENT ON #{object} IS #{literal(comment)}"
        end

        def comments(name, definition, comment)
          [*(comment_sql("TABLE #{quote_table(name)}", comment) if comment),
           *definition.columns.flat_map { |column| column_comment(name, column) }]
        end

        def column_comment(table, column)
          comment = column.options[:comment]
          comment ? change_column_comment(table, column.name, comment) : []
        end

        def cascade(force)
          force == :cascade ? " CASCADE" : ""
        end

        def default_change(default)
          default.nil? ? "DROP DEFAULT" : "SET DEFAULT #{literal(default)}"
        end

        # An empty array is '{}' here, an array's values are its elements.
        def default_sql(type, options)
          return super unless options[:array] && options[:default].is_a?(Array)

          "ARRAY[#{options[:default].map { |value| literal(value) }.join(', ')}]::" \
            "#{ColumnType.sql(type, options, @dialect)}"
        end

        def generated(options)
          if options[:stored] == false
            raise MigrationError, "PostgreSQL has stored generated columns only; leave stored: false out"
          end

          "GENERATED ALWAYS AS (#{options[:as]}) STORED"
        end

        def not_valid(validate)
          validate ? "" : " NOT VALID"
        end

        def index_sql(table, columns, name, options)
          "CREATE #{'UNIQUE ' if options[:unique]}INDEX #{'CONCURRENTLY ' if options[:concurrently]}" \
            "#{'IF NOT EXISTS ' if options[:if_not_exists]}#{quote(name)} ON #{quote_table(table)}#{using(options)} " \
            "(#{columns.map { |column| index_column(column, options) }.join(', ')})" \
            "#{" INCLUDE (#{list(options[:include])})" if options[:include]}" \
            "#{' NULLS NOT DISTINCT' if options[:nulls_not_distinct]}#{" WHERE #{options[:where]}" if options[:where]}"
        end

        def using(options)
          method = options[:using].to_s
          return "" if method.empty?
          return " USING #{method}" if METHODS.include?(method)

          raise MigrationError, "an index is built using: #{METHODS.join(', ')}; not #{method.inspect}"
        end

        def index_column(column, options)
          operators = options[:opclass]
          operators = operators.transform_keys(&:to_s)[column.to_s] if operators.is_a?(Hash)
          return super unless operators

          text = column.is_a?(Sql) ? "(#{column.text})" : quote(column)
          "#{text} #{quote(operators)}#{super.delete_prefix(text)}"
        end
      end
    end
  end
end
