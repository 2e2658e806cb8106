# frozen_string_literal: true

# Owns what a migration can ask and say while it runs. Refuses to change anything.

module AsyncRecord
  class Migration
    # Questions to the database, words to whoever watches.
    module Helpers
      # @return [Boolean]
      def table_exists?(name)
        !look(*database.dialect.table_query(name)).empty?
      end

      # @return [Boolean]
      def column_exists?(table, name)
        look(*database.dialect.columns_query(table)).any? { |row| row["name"] == name.to_s }
      end

      # @return [Object] the first value of the first row
      def select_value(sql, *binds)
        database.query(sql, *binds).first&.values&.first
      end

      # Tells something while the migration runs.
      # @return [void]
      def say(text)
        @notes&.puts("  #{text}")
      end

      # Tells what a block does, and how long it took.
      # @return [Object] what the block returns
      def say_with_time(text)
        started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        yield
      ensure
        seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
        say("#{text}  #{(seconds * 1000).round(1)} ms")
      end
    end
  end
end
