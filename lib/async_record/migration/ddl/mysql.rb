# frozen_string_literal: true

# Owns MySQL's and MariaDB's schema changes: definitions are repeated whole, indexes belong to their table, comments
# stand inside.

module AsyncRecord
  class Migration
    class Ddl
      # MySQL 8, MariaDB 10.5 and later.
      class MySQL < Ddl
        KINDS = { fulltext: "FULLTEXT ", spatial: "SPATIAL " }.freeze
        # These take a default only as an expression.
        LARGE = %i[text blob binary bytea json jsonb].freeze
        private_constant :KINDS, :LARGE

        # What is not said stays as it was.
        # @return [Array<String>]
        def change_column(table, name, type, **options)
          text = definition(table, name)
          text.type = ColumnType.sql(type, options, @dialect)
          text.null = options[:null] if options.key?(:null)
          text.default = options[:default].nil? ? nil : default_sql(type, options) if options.key?(:default)
          text.comment = literal(options[:comment]) if options[:comment]
          modify(table, name, text)
        end

        # @return [Array<String>]
        def change_column_null(table, name, null, default = nil)
          text = definition(table, name)
          text.null = null
          fill = "UPDATE #{quote_table(table)} SET #{quote(name)} = #{literal(default)} WHERE #{quote(name)} IS NULL"
          [*(fill unless null || default.nil?), *modify(table, name, text)]
        end

        # @return [Array<String>]
        def change_table_comment(table, comment)
          ["ALTER TABLE #{quote_table(table)} COMMENT = #{literal(comment.to_s)}"]
        end

        # @return [Array<String>]
        def change_column_comment(table, name, comment)
          text = definition(table, name)
          text.comment = literal(comment.to_s)
          modify(table, name, text)
        end

        # MySQL proper has no IF NOT EXISTS for what is part of a table, so it is asked.
        def add_index(table, columns, name: nil, if_not_exists: false, **options)
          name ||= index_name(table, columns)
          if_not_exists && index?(table, name) ? [] : super(table, columns, name: name, **options)
        end

        # (see Ddl#remove_index)
        def remove_index(table, columns = nil, name: nil, if_exists: false, **_options)
          name ||= index_name(table, columns)
          if_exists && !index?(table, name) ? [] : ["DROP INDEX #{quote(name)} ON #{quote_table(table)}"]
        end

        # @return [Array<String>]
        def rename_index(table, name, new_name)
          ["ALTER TABLE #{quote_table(table)} RENAME INDEX #{quote(name)} TO #{quote(new_name)}"]
        end

        # (see Ddl#remove_foreign_key)
        def remove_foreign_key(table, to_table = nil, if_exists: false, **options)
          name = foreign_key_name(table, to_table, options)
          drop("FOREIGN KEY", table, name, if_exists)
        end

        # (see Ddl#remove_check_constraint)
        def remove_check_constraint(table, condition = nil, name: nil, if_exists: false, **_options)
          name ||= check_name(table, condition)
          drop("CONSTRAINT", table, name, if_exists)
        end

        private

        def drop(what, table, name, if_exists)
          return [] if if_exists && !constraint?(table, name)

          ["ALTER TABLE #{quote_table(table)} DROP #{what} #{quote(name)}"]
        end

        def index?(table, name)
          read("SELECT 1 AS one FROM information_schema.statistics WHERE table_schema = DATABASE() " \
               "AND table_name = ? AND index_name = ?", table.to_s, name.to_s).any?
        end

        def constraint?(table, name)
          read("SELECT 1 AS one FROM information_schema.table_constraints WHERE table_schema = DATABASE() " \
               "AND table_name = ? AND constraint_name = ?", table.to_s, name.to_s).any?
        end

        # SHOW CREATE TABLE has one column a line, written as MODIFY takes it.
        def definition(table, name)
          row = read("SHOW CREATE TABLE #{quote_table(table)}").first
          line = row.values.last.to_s.lines.map(&:strip).find { |text| text.start_with?("#{quote(name)} ") }
          raise MigrationError, "#{table} has no column #{name}" unless line

          ColumnText.new(line.delete_prefix(quote(name)).strip.chomp(","))
        end

        def modify(table, name, text)
          ["ALTER TABLE #{quote_table(table)} MODIFY COLUMN #{quote(name)} #{text}"]
        end

        def table_options(comment, options)
          "#{" #{options}" if options}#{" COMMENT = #{literal(comment)}" if comment}"
        end

        def constraints(name, options, type)
          parts = super
          parts << "COMMENT #{literal(options[:comment])}" if options[:comment]
          parts
        end

        # An ENUM of its own needs no check.
        def checked_enum?(_type, _options)
          false
        end

        def collation(name)
          name.to_s.match?(/\A\w+\z/) ? name.to_s : super
        end

        def default_sql(type, options)
          default = options[:default]
          return "CURRENT_TIMESTAMP(#{options[:precision] || 6})" if current_time?(type, default)

          LARGE.include?(type) && !default.is_a?(Sql) ? "(#{literal(default)})" : literal(default)
        end

        # The default must have the column's precision.
        def current_time?(type, default)
          %i[datetime timestamp timestamptz].include?(type) && default.is_a?(Sql) &&
            default.text.match?(/\Acurrent_timestamp\z/i)
        end

        def index_sql(table, columns, name, options)
          refuse_index(options)
          kind = options[:unique] ? "UNIQUE " : KINDS[options[:type]]
          "CREATE #{kind}INDEX #{quote(name)}" \
            "#{" USING #{options[:using].to_s.upcase}" if %w[btree hash].include?(options[:using].to_s)} " \
            "ON #{quote_table(table)} (#{columns.map { |column| index_column(column, options) }.join(', ')})" \
            "#{" COMMENT #{literal(options[:comment])}" if options[:comment]}" \
            "#{' ALGORITHM=INPLACE LOCK=NONE' if options[:concurrently]}"
        end

        def refuse_index(options)
          return unless options[:where]

          raise MigrationError, "MySQL has no partial index; the nearest is an index on all rows (leave where: out) " \
                                "or on a generated column that is NULL where the condition is false"
        end

        # A text is indexed by its first characters.
        def index_column(column, options)
          length = options[:length]
          length = length.transform_keys(&:to_s)[column.to_s] if length.is_a?(Hash)
          return super unless length && !column.is_a?(Sql)

          "#{quote(column)}(#{Integer(length)})#{super.delete_prefix(quote(column))}"
        end
      end
    end
  end
end
