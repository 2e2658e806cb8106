# frozen_string_literal: true

# Owns one migration in one direction: its transaction, its limits, its entry in the history, and what is said when it
# fails. Migration and entry stand or fall together where the database can do that; where it cannot, the failure says
# what is left.

module AsyncRecord
  class Migration
    # Runs one script.
    class Step
      # With these PostgreSQL, MariaDB and MySQL refuse a foreign key to a table that is not there.
      NO_TARGET = %w[42P01 1005 1824].freeze
      private_constant :NO_TARGET

      # @param database [Database]
      # @param history [History]
      # @param out [#puts]
      def initialize(database, history, script, direction, out:)
        @database = database
        @history = history
        @script = script
        @direction = direction
        @out = out
      end

      # @return [Boolean] false when another process was faster
      # @raise [MigrationError]
      def run
        started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        return false unless AsyncRecord.using_primary { perform }

        milliseconds = (Process.clock_gettime(Process::CLOCK_MONOTONIC) - started) * 1000
        @out.puts("#{@script}  #{@direction}  #{milliseconds.round(1)} ms")
        true
      rescue Error => error
        forgive
        raise failure(error)
      rescue StandardError, ScriptError
        forgive
        @out.puts("#{@script} #{@direction} failed#{kept}") if left.any?
        raise
      ensure
        @database.schema.forget
      end

      # Prints what {#run} would do.
      #
      # @param shadow [Database, nil] SQLite's copy of the schema
      # @return [void]
      def print(shadow)
        dry = DryExecutor.new(@out, shadow)
        alone = !(klass.transaction? && @database.dialect.transactional_ddl?)
        @out.puts("-- #{@script} #{@direction}")
        [*("BEGIN" unless alone), *limits.before].each { |sql| @out.puts("#{sql};") }
        guarded { klass.new(shadow || @database, executor: dry, notes: nil).run(@direction) }
        later = dry.later?
        @out.puts("COMMIT;") if later && !alone
        dry.finish
        @out.puts("#{entry};", *("COMMIT;" unless alone || later))
      end

      private

      def klass
        @script.migration_class
      end

      def limits
        @limits ||= klass.limits(@database)
      end

      def perform
        return false if applied?

        @executor = Executor.new(@database, limits: limits)
        @migration = klass.new(@database, executor: @executor, notes: @out)
        @cut = @history.unfinished.include?(@script.version)
        @history.begin(@script) unless whole?
        klass.transaction? ? in_transaction : alone
      end

      def applied?
        @history.applied?(@script.version) == (@direction == :up)
      end

      # Another process may have been faster while this one waited for the transaction.
      def in_transaction
        done = limits.within do
          next false if applied?

          run_migration
          @history.record(@script, @direction) unless @executor.later?
          true
        end
        return done unless @executor.later?

        @concurrent = true
        @executor.finish
        @history.record(@script, @direction)
        true
      end

      def alone
        run_migration
        @history.record(@script, @direction)
        true
      end

      # An edit of SQLite's schema that was cut off must not stay open on the connection.
      def run_migration
        @migration.run(@direction)
      rescue StandardError
        @executor.repair
        raise
      end

      # Nothing is unfinished where nothing was kept, now and before.
      def forgive
        return if whole? || @cut || left.any?

        @direction == :up ? @history.forget(@script.version) : @history.adopt([@script])
      rescue Error
        nil # the failure itself matters more
      end

      # Whether a failure leaves nothing.
      def whole?
        klass.transaction? && @database.dialect.transactional_ddl?
      end

      def failure(error)
        message = "#{@script} #{@direction} failed: #{error.message}#{advice(error)}"
        error.class <= MigrationError ? error.class.new("#{message}#{kept}") : MigrationError.new("#{message}#{kept}")
      end

      def advice(error)
        target = absent_target(error)
        return "; there is no table #{target}: make it first, or say foreign_key: { to_table: :… }" if target
        return "" unless error.is_a?(LockTimeout) || ["55P03", 1205, "1205"].include?(error.code)

        "; others use the table and did not let go within #{klass.lock_timeout} s: run it again at a quieter time, " \
          "or say a longer lock_timeout in the migration's class"
      end

      # The table that a foreign key points to, if the database says that it is not there.
      def absent_target(error)
        return unless NO_TARGET.include?(error.code.to_s)

        target = error.sql.to_s[/REFERENCES ["`](\w+)["`]/, 1]
        target if target && !error.sql.match?(/CREATE TABLE ["`]#{target}["`]/) && !@database.schema.table(target)
      end

      def kept
        return "; nothing of it was kept" if left.empty?

        "; what ran before the error stays:\n#{left.map { |sql| "  #{sql};" }.join("\n")}\n" \
          "Undo that by hand, or change the file so that it goes on from there, then run it again."
      end

      # What a failure leaves: all of it outside of a transaction, and when that was committed already.
      def left
        return [] unless @executor

        klass.transaction? && !@concurrent ? @executor.kept : @executor.ran
      end

      def guarded(&block)
        Context.with(@database, Guard, &block)
      rescue DryRunEnds => end_of_knowledge
        @out.puts("-- #{end_of_knowledge.message}")
      rescue MigrationError, QueryError => error
        raise failure(error)
      end

      def entry
        return "DELETE FROM #{History::VERSIONS} WHERE version = '#{@script.version}'" if @direction == :down

        "INSERT INTO #{History::VERSIONS} (version) VALUES ('#{@script.version}')"
      end

      # Stands where the transaction would be during a dry run: nothing reaches the database.
      module Guard
        module_function

        def check_open
          raise DryRunEnds, "from here on the migration works with rows in Ruby; only running it tells the rest"
        end

        def savepoint
          check_open
        end
      end
      private_constant :Guard
    end
    private_constant :Step
  end
end
