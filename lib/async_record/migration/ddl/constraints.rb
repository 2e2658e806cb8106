# frozen_string_literal: true

# Owns foreign keys and checks as the standard writes them. Refuses to know indexes, though keys of a table are some.

module AsyncRecord
  class Migration
    class Ddl
      # What a row must be like.
      module Constraints
        ON = {
          cascade: "CASCADE", nullify: "SET NULL", set_null: "SET NULL", restrict: "RESTRICT", no_action: "NO ACTION",
          set_default: "SET DEFAULT"
        }.freeze
        private_constant :ON

        # @return [Array<String>]
        def add_foreign_key(table, to_table, **options)
          ["ALTER TABLE #{quote_table(table)} ADD #{foreign_key_sql(table, to_table, **options)}"]
        end

        # @return [Array<String>]
        def remove_foreign_key(table, to_table = nil, if_exists: false, **options)
          name = foreign_key_name(table, to_table, options)
          ["ALTER TABLE #{quote_table(table)} DROP CONSTRAINT #{'IF EXISTS ' if if_exists}#{quote(name)}"]
        end

        # @return [Array<String>] where constraints are never added without looking at the rows, nothing
        def validate_foreign_key(_table, _to_table = nil, **_options)
          []
        end

        # (see #validate_foreign_key)
        def validate_check_constraint(_table, _condition = nil, **_options)
          []
        end

        # @return [Array<String>]
        def add_check_constraint(table, condition, name: nil, validate: true)
          name ||= check_name(table, condition)
          ["ALTER TABLE #{quote_table(table)} ADD #{check_sql(name, condition)}#{not_valid(validate)}"]
        end

        # @return [Array<String>]
        def remove_check_constraint(table, condition = nil, name: nil, if_exists: false, **_options)
          name ||= check_name(table, condition)
          ["ALTER TABLE #{quote_table(table)} DROP CONSTRAINT #{'IF EXISTS ' if if_exists}#{quote(name)}"]
        end

        private

        def check_sql(name, condition)
          "#{"CONSTRAINT #{quote(name)} " if name}CHECK (#{condition})"
        end

        def not_valid(_validate)
          ""
        end

        def foreign_key_sql(table, to_table, column: nil, primary_key: "id", name: nil, on_delete: nil, on_update: nil,
                            validate: true, deferrable: nil)
          columns = Array(column || "#{Inflector.singularize(to_table.to_s)}_id")
          name ||= short("fk_#{table}_#{columns.join('_')}")
          "CONSTRAINT #{quote(name)} FOREIGN KEY (#{list(columns)}) " \
            "REFERENCES #{quote_table(to_table)} (#{list(primary_key)})" \
            "#{action('DELETE', on_delete)}#{action('UPDATE', on_update)}#{deferred(deferrable)}#{not_valid(validate)}"
        end

        def foreign_key_name(table, to_table, options)
          return options[:name] if options[:name]

          columns = Array(options[:column] || (to_table && "#{Inflector.singularize(to_table.to_s)}_id"))
          raise MigrationError, "say which foreign key of #{table}: to_table, column: or name:" if columns.empty?

          short("fk_#{table}_#{columns.join('_')}")
        end

        def action(event, what)
          return "" unless what

          words = ON.fetch(what.to_sym) do
            raise MigrationError, "on_#{event.downcase}: is one of #{ON.keys.join(', ')}, not #{what.inspect}"
          end
          " ON #{event} #{words}"
        end

        def deferred(mode)
          case mode
          when nil, false then ""
          when :deferred then " DEFERRABLE INITIALLY DEFERRED"
          else " DEFERRABLE"
          end
        end

        def check_name(table, condition)
          raise MigrationError, "say which check of #{table}: its condition or name:" unless condition

          short("chk_#{table}_#{Digest::SHA256.hexdigest(condition.to_s)[0, 10]}")
        end
      end
      private_constant :Constraints
    end
  end
end
