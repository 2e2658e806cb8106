# frozen_string_literal: true

# Owns how each schema command is undone. Refuses to guess: what a command does not say cannot be brought back.

module AsyncRecord
  class Migration
    # A command and its opposite.
    module Inverse
      # What is undone by its opposite with the same arguments and options.
      PAIRS = {
        create_enum: :drop_enum, enable_extension: :disable_extension, disable_extension: :enable_extension
      }.freeze
      # What is said of the way to undo a command that has none by itself.
      ADVICE = {
        change_column: "write `up` and `down`, each with its change_column",
        add_enum_value: "PostgreSQL cannot take a value out of an enum; write an empty `down` if it may stay",
        execute: "write `up` and `down`, or reversible { |way| way.up { … }; way.down { … } }"
      }.freeze
      private_constant :PAIRS, :ADVICE

      class << self
        # @param command [Array] name, arguments, options
        # @return [Array] the command that undoes it
        # @raise [IrreversibleMigration]
        def of(command)
          name, arguments, options = command
          return [PAIRS[name], arguments, options] if PAIRS.key?(name)
          return send(name, arguments, options) if respond_to?(name, true)

          refuse("#{name} #{arguments.first.inspect[0, 60]} cannot be undone by itself; " \
                 "#{ADVICE.fetch(name, 'write `up` and `down`')}")
        end

        private

        def refuse(message)
          raise IrreversibleMigration, message
        end

        # What is not needed on the way down is kept: a `revert` may turn it around once more.
        def create_table(arguments, options)
          [:drop_table, arguments, options.reject { |key, _| key == :force }]
        end

        def drop_table(arguments, options)
          options = options.reject { |key, _| %i[if_exists force].include?(key) }
          return [:create_table, arguments, options] if arguments.size > 1

          refuse("drop_table #{arguments.first.inspect} can be undone only if its block says what the table was")
        end

        # What `reversible` says for a direction is right as it is.
        def block(arguments, options)
          [:block, arguments, options]
        end

        def add_column(arguments, options)
          [:remove_column, arguments, options]
        end

        def remove_column(arguments, options)
          return [:add_column, arguments, options.reject { |key, _| key == :if_exists }] if arguments.size > 2

          refuse("remove_column #{arguments.map(&:inspect).join(', ')} can be undone only if it names the type")
        end

        def rename_column((table, from, to), _options)
          [:rename_column, [table, to, from], {}]
        end

        def rename_table((from, to), _options)
          [:rename_table, [to, from], {}]
        end

        def rename_index((table, from, to), _options)
          [:rename_index, [table, to, from], {}]
        end

        def change_column_null((table, name, null), _options)
          [:change_column_null, [table, name, !null], {}]
        end

        def change_column_default(arguments, _options)
          [:change_column_default, turned(:change_column_default, arguments), {}]
        end

        def change_table_comment(arguments, _options)
          [:change_table_comment, turned(:change_table_comment, arguments), {}]
        end

        def change_column_comment(arguments, _options)
          [:change_column_comment, turned(:change_column_comment, arguments), {}]
        end

        def rename_enum_value((name), options)
          [:rename_enum_value, [name], { from: options[:to], to: options[:from] }]
        end

        def turned(command, arguments)
          *names, value = arguments
          both = value.is_a?(Hash) && value.key?(:from) && value.key?(:to)
          return [*names, { from: value[:to], to: value[:from] }] if both

          refuse("#{command} #{names.map(&:inspect).join(', ')} can be undone only if it says from: and to:")
        end

        def drop_enum(arguments, _options)
          return [:create_enum, arguments, {}] if arguments.size > 1

          refuse("drop_enum #{arguments.first.inspect} can be undone only if it names the values")
        end

        def add_index(arguments, options)
          [:remove_index, arguments, options]
        end

        def remove_index(arguments, options)
          return [:add_index, arguments, options.reject { |key, _| key == :if_exists }] if arguments.size > 1

          refuse("remove_index of #{arguments.first.inspect} can be undone only if it names the columns")
        end

        def add_foreign_key(arguments, options)
          [:remove_foreign_key, arguments, options]
        end

        def remove_foreign_key(arguments, options)
          return [:add_foreign_key, arguments, options.reject { |key, _| key == :if_exists }] if arguments.size > 1

          refuse("remove_foreign_key of #{arguments.first.inspect} can be undone only if it names the other table")
        end

        def validate_foreign_key(_arguments, _options)
          [:nothing, [], {}]
        end
        alias validate_check_constraint validate_foreign_key

        def add_check_constraint(arguments, options)
          [:remove_check_constraint, arguments, options]
        end

        def remove_check_constraint(arguments, options)
          return [:add_check_constraint, arguments, options.reject { |key, _| key == :if_exists }] if arguments.size > 1

          refuse("remove_check_constraint of #{arguments.first.inspect} can be undone only if it says the condition")
        end
      end
    end
    private_constant :Inverse
  end
end
