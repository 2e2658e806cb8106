# frozen_string_literal: true

# Owns how each schema command is undone. Refuses to guess: what a command does not say cannot be brought back.

module AsyncRecord
  class Migration
    # A command and its opposite.
    module Inverse
      class << self
        # @param command [Array] name, arguments, options
        # @return [Array] the command that undoes it
        # @raise [IrreversibleMigration]
        def of(command)
          name, arguments, options = command
          return send(name, arguments, options) if respond_to?(name, true)

          raise IrreversibleMigration, "#{name} cannot be undone by itself; write `up` and `down`"
        end

        private

        def create_table(arguments, _options)
          [:drop_table, arguments.first(1), {}]
        end

        def drop_table(arguments, options)
          return [:create_table, arguments, options.reject { |key, _| key == :if_exists }] if arguments.size > 1

          raise IrreversibleMigration, "drop_table #{arguments.first.inspect} can be undone only if its block says " \
                                       "what the table was"
        end

        # What `reversible` says for a direction is right as it is.
        def block(arguments, options)
          [:block, arguments, options]
        end

        def add_column(arguments, _options)
          [:remove_column, arguments.first(2), {}]
        end

        def remove_column(arguments, options)
          return [:add_column, arguments, options] if arguments.size > 2

          raise IrreversibleMigration, "remove_column #{arguments.last.inspect} can be undone only if it names the type"
        end

        def rename_column((table, from, to), _options)
          [:rename_column, [table, to, from], {}]
        end

        def rename_table((from, to), _options)
          [:rename_table, [to, from], {}]
        end

        def add_index(arguments, options)
          [:remove_index, arguments, options.slice(:name)]
        end

        def remove_index(arguments, options)
          return [:add_index, arguments, options.reject { |key, _| key == :if_exists }] if arguments.size > 1

          raise IrreversibleMigration, "remove_index can be undone only if it names the columns"
        end
      end
    end
    private_constant :Inverse
  end
end
