# frozen_string_literal: true

# Owns the way of a database from version to version: what is to run, in which order, alone among all processes.
# Refuses to go on when the history does not fit the files. The single step is Migration::Step, the tables are
# Migration::History.

require_relative "migration"
require_relative "migration/script"
require_relative "migration/history"
require_relative "migration/lock"
require_relative "migration/step"

module AsyncRecord
  # Brings a database to a version.
  #
  # @example
  #   migrator = AsyncRecord::Migrator.new(AsyncRecord.database, folder: "db/migrate")
  #   migrator.migrate                      # => 2
  #   migrator.status.each { |line| puts line.version, line.state }
  class Migrator
    # Seconds to wait for another process that migrates.
    WAIT = 600
    History = Migration.const_get(:History, false)
    Lock = Migration.const_get(:Lock, false)
    Script = Migration.const_get(:Script, false)
    Step = Migration.const_get(:Step, false)
    private_constant :History, :Lock, :Script, :Step

    # One line of {#status}.
    Status = Struct.new(:version, :name, :state)

    # @param database [Database]
    # @param folder [String]
    # @param out [#puts] gets one line per migration
    # @param sql [Boolean] whether to print the statements instead of running them
    # @param wait [Numeric] seconds to wait for another process that migrates
    def initialize(database, folder: "db/migrate", out: $stdout, sql: false, wait: WAIT)
      @database = database
      @folder = folder
      @out = out
      @sql = sql
      @wait = wait
      @history = History.new(database)
    end

    # Runs what has not run yet. With a version: up to and including it, or down until it is the last.
    #
    # @param target [String, Integer, nil] 0 undoes everything
    # @return [Integer] how many ran
    # @raise [MigrationError] when a file was changed after it ran, or is missing
    def migrate(target = nil)
      check_target(target)
      alone do
        check_history
        up = pending.take_while { |script| target.nil? || script.version.to_i <= target.to_i }
        down = target ? applied_versions.select { |version| version.to_i > target.to_i }.reverse : []
        steps(down.map { |version| script_for(version) }, :down) + steps(up, :up)
      end
    end

    # @return [Boolean] whether {#migrate} would undo something
    def down?(target)
      !target.nil? && applied_versions.any? { |version| version.to_i > target.to_i }
    end

    # Undoes the last migrations.
    #
    # @param count [Integer]
    # @return [Integer] how many were undone
    def rollback(count = 1)
      alone { steps(last(count), :down) }
    end

    # Undoes the last migrations and runs them again.
    #
    # @param count [Integer]
    # @return [Integer] how many
    def redo(count = 1)
      alone do
        scripts = last(count)
        steps(scripts, :down)
        steps(scripts.reverse, :up)
      end
    end

    # @return [Array<Status>] what ran (:up), what did not (:down), what was cut off (:unfinished), what ran and is gone
    #   (:missing) or was :changed
    def status
      done = @history.applied
      cut = @history.unfinished
      known = scripts.map { |script| Status.new(script.version, script.title, state(script, done, cut)) }
      lost = done.keys - scripts.map(&:version)
      (known + lost.map { |version| Status.new(version, "(no file)", :missing) }).sort_by { |line| line.version.to_i }
    end

    # @return [Array<Script>] what has not run yet
    def pending
      done = @history.applied
      scripts.reject { |script| done.key?(script.version) }
    end

    # @return [String, nil] the last version that ran
    def version
      applied_versions.last
    end

    # @return [self]
    # @raise [PendingMigrations] when something has not run
    def check_pending!
      names = pending.map(&:to_s)
      return self if names.empty?

      raise PendingMigrations, "#{names.size} migration#{'s have' if names.size > 1}#{' has' if names.one?} not run: " \
                               "#{names.first(5).join(', ')}#{' …' if names.size > 5}. Run: fastr db migrate"
    end

    # @return [Array<String>] what is wrong between files and database, each with what to do; empty when all is well
    def problems
      found = status.group_by(&:state)
      [*told(found[:down], "has not run", "fastr db migrate"),
       *told(found[:unfinished], "was cut off in the middle", "look what is there, then fastr db migrate"),
       *told(found[:changed], "was changed after it ran", "put the file back and write a new migration"),
       *told(found[:missing], "ran, but its file is gone", "bring it back, or delete its row in #{History::VERSIONS}")]
    end

    # Takes the files as they are for the versions that the database has: after a schema was loaded.
    # @return [void]
    # @api private
    def adopt
      @history.prepare
      @history.adopt(scripts)
    end

    private

    def scripts
      @scripts ||= Script.all(@folder)
    end

    def told(lines, what, advice)
      lines.to_a.map { |line| "#{line.version} #{line.name} #{what} (#{advice})" }
    end

    def state(script, done, cut)
      return :unfinished if cut.include?(script.version)
      return :down unless done.key?(script.version)

      changed?(script, done) ? :changed : :up
    end

    def changed?(script, done)
      sum = done[script.version]
      sum && sum != History::UNFINISHED && sum != script.checksum
    end

    # Versions without a checksum were applied by someone else, such as Rails: nothing is known of their files.
    def check_history
      done = @history.applied
      changed = scripts.find { |script| changed?(script, done) }
      raise MigrationError, changed_message(changed) if changed

      lost = done.keys.find { |version| done[version] && scripts.none? { |script| script.version == version } }
      raise MigrationError, missing_message(lost) if lost
    end

    def check_target(target)
      return if target.nil? || target.to_s == "0" || scripts.any? { |script| script.version.to_i == target.to_i }

      raise MigrationError, "there is no migration #{target} in #{@folder}; fastr db status lists them, 0 undoes all"
    end

    def changed_message(script)
      "#{script.path} was changed after it ran. Put it back and say the change in a new migration; or roll it back " \
        "first with the old file. If only its form changed, delete its row in #{History::CHECKSUMS}."
    end

    def missing_message(version)
      "migration #{version} ran on this database, but #{@folder} has no file for it. Bring the file back; if it is " \
        "gone for good, delete its row in #{History::CHECKSUMS}."
    end

    def script_for(version)
      scripts.find { |script| script.version == version } ||
        raise(MigrationError, "migration #{version} ran on this database, but #{@folder} has no file that says how " \
                              "to undo it. Bring the file back, or delete its row in #{History::VERSIONS}.")
    end

    def applied_versions
      @history.applied.keys.sort_by(&:to_i)
    end

    def last(count)
      applied_versions.last(count).reverse.map { |version| script_for(version) }
    end

    # The history is read only once nobody else changes it.
    def alone
      return yield if @sql

      Lock.new(@database, out: @out, wait: @wait).hold do
        @history.prepare
        yield
      end
    end

    def steps(scripts, direction)
      return print_steps(scripts, direction) if @sql

      warn_of_unfinished(scripts, direction)
      scripts.each { |script| step(script, direction).run }.size
    end

    def step(script, direction)
      Step.new(@database, @history, script, direction, out: @out)
    end

    def warn_of_unfinished(scripts, direction)
      return unless direction == :up

      cut = @history.unfinished
      scripts.select { |script| cut.include?(script.version) }.each do |script|
        @out.puts("#{script} was cut off in the middle the last time; what it did until then is still there")
      end
    end

    def print_steps(scripts, direction)
      missing = [History::VERSIONS, History::CHECKSUMS].reject { |name| @history.table?(name) }
      @history.ddl.each { |sql| @out.puts("#{sql};") } if missing.any? && direction == :up && scripts.any?
      shadow = self.shadow
      scripts.each { |script| step(script, direction).print(shadow) }.size
    ensure
      shadow&.close
    end

    # SQLite's schema in memory: what a dry run may change.
    def shadow
      return unless @database.dialect.name == :sqlite

      copy = Database.new("sqlite::memory:")
      @database.query("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!' " \
                      "ORDER BY type = 'table' DESC, type = 'view' DESC").each { |row| copy.script(row["sql"]) }
      copy
    end
  end
end
