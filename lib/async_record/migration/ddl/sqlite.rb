# frozen_string_literal: true

# Owns SQLite's schema changes. What ALTER TABLE cannot do there is done by editing the table's stored definition, as
# SQLite's documentation allows for changes that leave the rows on disk as they are: nothing is copied or dropped, so
# no ON DELETE CASCADE of another table fires. The rows are looked at first.

module AsyncRecord
  class Migration
    class Ddl
      # SQLite 3.35 and later.
      class SQLite < Ddl
        # Takes a definition that was edited, and lets every connection read the schema again: its number changes.
        EDIT = ['CREATE TABLE "ar_schema_changed" ("a")', 'DROP TABLE "ar_schema_changed"',
                "PRAGMA writable_schema = ON", nil, "PRAGMA writable_schema = RESET"].freeze
        # What ends an edit that failed.
        REPAIR = "PRAGMA writable_schema = RESET"
        private_constant :EDIT

        # (see Ddl#add_column)
        def add_column(table, name, type, **options)
          if options[:as] && options[:stored]
            raise MigrationError, "SQLite adds virtual generated columns only; leave stored: true out, or say it in " \
                                  "create_table"
          end

          super
        end

        # Indexes with the column go along, as in the other databases.
        def remove_column(table, name, *type, **options)
          indexes = indexes_with(table, name).map { |index| "DROP INDEX #{quote(index)}" }
          statements = super
          statements.empty? ? [] : indexes + statements
        end

        # What is not said stays as it was.
        # @return [Array<String>]
        def change_column(table, name, type, **options)
          no_nulls(table, name) if options[:null] == false
          edit = change(table, name) do |text|
            raise MigrationError, "#{table}.#{name} is the key; SQLite cannot change its type" if text.key?

            text.type = ColumnType.sql(type, options, @dialect)
            text.null = options[:null] if options.key?(:null)
            text.default = options[:default].nil? ? nil : literal(options[:default]) if options.key?(:default)
          end
          # Written once more, the values get the form of the new type.
          [*edit, "UPDATE #{quote_table(table)} SET #{quote(name)} = #{quote(name)}", "REINDEX #{quote_table(table)}"]
        end

        # @return [Array<String>]
        def change_column_null(table, name, null, default = nil)
          fill = "UPDATE #{quote_table(table)} SET #{quote(name)} = #{literal(default)} WHERE #{quote(name)} IS NULL"
          no_nulls(table, name) if !null && default.nil?
          [*(fill unless null || default.nil?), *change(table, name) { |text| text.null = null }]
        end

        # @return [Array<String>]
        def change_column_default(table, name, default)
          change(table, name) { |text| text.default = default.nil? ? nil : literal(default) }
        end

        # @return [Array<String>]
        def rename_index(_table, name, new_name)
          sql = read("SELECT sql FROM sqlite_master WHERE type = 'index' AND name = ?", name.to_s).first&.fetch("sql")
          raise MigrationError, "there is no index #{name}" unless sql

          tokens = Tokens.of(sql)
          tokens[tokens.index { |token| Tokens.unquote(token) == name.to_s }] = quote(new_name)
          ["DROP INDEX #{quote(name)}", Tokens.join(tokens)]
        end

        # @return [Array<String>]
        def add_foreign_key(table, to_table, **options)
          no_orphans(table, to_table, options) unless options[:validate] == false
          edit(table) { |text| text.add_constraint(foreign_key_sql(table, to_table, **options)) }
        end

        # @return [Array<String>]
        def remove_foreign_key(table, to_table = nil, if_exists: false, **options)
          columns = Array(options[:column] || (to_table && "#{Inflector.singularize(to_table.to_s)}_id"))
          name = foreign_key_name(table, to_table, options)
          edit(table) do |text|
            found = text.remove_constraint(name) || remove_by_columns(text, columns)
            raise MigrationError, "#{table} has no foreign key #{name}" unless found || if_exists
          end
        end

        # @return [Array<String>]
        def add_check_constraint(table, condition, name: nil, validate: true)
          none(table, "NOT (#{condition})", "break #{condition.inspect}; change them first") if validate
          name ||= check_name(table, condition)
          edit(table) { |text| text.add_constraint(check_sql(name, condition)) }
        end

        # @return [Array<String>]
        def remove_check_constraint(table, condition = nil, name: nil, if_exists: false, **_options)
          body = condition ? ["CHECK", "(#{condition})"] : []
          edit(table) do |text|
            found = text.remove_constraint(name || check_name(table, condition)) || text.remove_constraint(nil, *body)
            raise MigrationError, "#{table} has no check #{name || condition}" unless found || if_exists
          end
        end

        # SQLite keeps no comments.
        # @return [Array]
        def change_table_comment(_table, _comment)
          []
        end

        # (see #change_table_comment)
        def change_column_comment(_table, _name, _comment)
          []
        end

        private

        def change(table, name, &block)
          edit(table) { |text| text.change(name, &block) }
        end

        def edit(table)
          sql = read("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", table.to_s).first&.fetch("sql")
          raise MigrationError, "there is no table #{table}" unless sql

          text = TableText.new(sql)
          yield text
          update = "UPDATE sqlite_master SET sql = #{literal(text.to_s)} " \
                   "WHERE type = 'table' AND name = #{literal(table)}"
          EDIT.map { |statement| statement || update }
        end

        def remove_by_columns(text, columns)
          text.remove_constraint(nil, "FOREIGN", "KEY", "(#{columns.join(', ')})") ||
            (columns.one? && text.column_named?(columns.first) && text.change(columns.first, &:remove_reference))
        end

        def indexes_with(table, name)
          read("SELECT l.name AS name FROM pragma_index_list(?) l, pragma_index_info(l.name) i " \
               "WHERE l.origin = 'c' AND i.name = ?", table.to_s, name.to_s).map { |row| row["name"] }.uniq
        end

        def no_nulls(table, name)
          none(table, "#{quote(name)} IS NULL", "have no #{name}; give a default: " \
                                                "change_column_null :#{table}, :#{name}, false, \"…\"")
        end

        def no_orphans(table, to_table, options)
          columns = Array(options[:column] || "#{Inflector.singularize(to_table.to_s)}_id")
          pairs = columns.zip(Array(options[:primary_key] || "id"))
          filled = columns.map { |column| "#{quote(column)} IS NOT NULL" }
          child = quote_table(table)
          match = pairs.map { |own, other| "parent.#{quote(other)} = #{child}.#{quote(own)}" }.join(" AND ")
          parents = "SELECT 1 FROM #{quote_table(to_table)} parent WHERE #{match}"
          none(table, "#{filled.join(' AND ')} AND NOT EXISTS (#{parents})",
               "point to no row of #{to_table}; correct them first, or say validate: false")
        end

        def none(table, condition, problem)
          count = read("SELECT count(*) AS n FROM #{quote_table(table)} WHERE #{condition}").first["n"]
          raise MigrationError, "#{count} rows of #{table} #{problem}" if count.positive?
        end

        # A cascade is not needed: nothing depends on a table here.
        def cascade(_force)
          ""
        end
      end
    end
  end
end
