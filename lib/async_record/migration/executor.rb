# frozen_string_literal: true

# Owns what happens to the statements of a migration: they are run, kept for after the transaction, or printed. It
# remembers what ran, so that a failure can say what is left of it.

module AsyncRecord
  class Migration
    # Runs statements.
    class Executor
      # On MySQL these commit whatever was open before them, also when they fail.
      COMMITTING = /\A\s*(?:CREATE|ALTER|DROP|RENAME|TRUNCATE)\b(?!\s+TEMPORARY\b)/i
      private_constant :COMMITTING

      # @param database [Database]
      # @param limits [Limits, nil] for commands that run in a transaction of their own
      def initialize(database, limits: nil)
        @database = database
        @limits = limits
        @ran = []
        @later = []
      end

      # @return [Boolean]
      def dry?
        false
      end

      # What a transaction that was rolled back has left.
      # @return [Array<String>]
      def kept
        return [] if @database.dialect.transactional_ddl?
        return @ran if @current&.match?(COMMITTING)

        last = @ran.rindex { |sql| sql.match?(COMMITTING) }
        last ? @ran.first(last + 1) : []
      end

      # What ran.
      # @return [Array<String>]
      attr_reader :ran

      # Runs the statements of one command.
      #
      # @param statements [Array<String, Ddl::Outside>]
      # @param raw [Boolean] whether they are the user's own
      # @return [void]
      def run(statements, raw: false)
        return statements.each { |statement| submit(statement) } if Context[@database] || raw || @limits.nil?

        outside, inside = statements.partition { |statement| statement.is_a?(Ddl::Outside) }
        @limits.within { inside.each { |statement| submit(statement) } } if inside.any?
        outside.each { |statement| alone(statement) }
      end

      # @return [Boolean] whether something waits for the end of the transaction
      def later?
        @later.any?
      end

      # Runs what had to wait for the end of the transaction.
      # @return [void]
      def finish
        alone(@later.shift) until @later.empty?
      end

      # Ends an edit of SQLite's stored schema that failed half way.
      # @return [void]
      def repair
        quietly(Ddl::SQLite::REPAIR) if @database.dialect.name == :sqlite && Context[@database]
      end

      private

      def submit(statement)
        return outside(statement) if statement.is_a?(Ddl::Outside)

        execute(statement)
      end

      def outside(statement)
        Context[@database] ? @later << statement : alone(statement)
      end

      def alone(statement)
        execute(statement.sql)
      rescue Error
        quietly(statement.repair) if statement.repair
        raise
      end

      def execute(sql)
        @current = sql
        seconds = @limits&.client_timeout
        seconds ? @database.await(sql, timeout: seconds) : @database.script(going_on(sql))
        @ran << sql
        @current = nil
      end

      # What comes after a change of the schema is one transaction again, on the same connection.
      def going_on(sql)
        return sql if @database.dialect.transactional_ddl? || Context[@database].nil? || !sql.match?(COMMITTING)

        "#{sql};\nSTART TRANSACTION"
      end

      # The first error matters more.
      def quietly(sql)
        @database.script(sql)
      rescue Error
        nil
      end
    end
    private_constant :Executor

    # A dry run does not know how it would go on.
    class DryRunEnds < StandardError; end
    private_constant :DryRunEnds

    # Prints statements instead of running them. On SQLite they run on a copy of the schema in memory, because some
    # changes there depend on what is there.
    class DryExecutor
      # @param out [#puts]
      # @param shadow [Database, nil]
      def initialize(out, shadow = nil)
        @out = out
        @shadow = shadow
        @later = []
      end

      # @return [Boolean]
      def dry?
        true
      end

      # @return [void]
      def run(statements, raw: false) # rubocop:disable Lint/UnusedMethodArgument -- the interface of Executor
        statements.each { |statement| statement.is_a?(Ddl::Outside) ? @later << statement.sql : print(statement) }
      end

      # @return [Boolean]
      def later?
        @later.any?
      end

      # @return [void]
      def finish
        print(@later.shift) until @later.empty?
      end

      private

      def print(sql)
        @out.puts("#{sql};")
        @shadow&.script(sql)
      end
    end
    private_constant :DryExecutor
  end
end
