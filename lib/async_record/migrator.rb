# frozen_string_literal: true

# Owns which migrations have run: the table `schema_migrations` as Rails knows it, and a table of checksums beside it by
# which a changed file is noticed. Each migration and its entry stand or fall together where the database can do that.

require_relative "migration"
require_relative "migration/script"

module AsyncRecord
  # Brings a database to a version.
  #
  # @example
  #   AsyncRecord::Migrator.new(AsyncRecord.database, folder: "db/migrate").migrate
  class Migrator
    VERSIONS = "schema_migrations"
    CHECKSUMS = "schema_migration_checksums"
    private_constant :VERSIONS, :CHECKSUMS

    # One line of {#status}.
    Status = Struct.new(:version, :name, :state)

    # @param database [Database]
    # @param folder [String]
    # @param out [#puts] gets one line per migration
    # @param sql [Boolean] whether to print the statements instead of running them
    def initialize(database, folder: "db/migrate", out: $stdout, sql: false)
      @database = database
      @folder = folder
      @out = out
      @sql = sql
    end

    # Runs what has not run yet.
    #
    # @param target [String, Integer, nil] the version to stop after
    # @return [Integer] how many ran
    # @raise [MigrationError] when a file was changed after it ran, or is missing
    def migrate(target = nil)
      prepare
      check_history
      todo = pending
      todo = todo.take_while { |script| script.version.to_i <= target.to_i } if target
      todo.each { |script| step(script, :up) }
      todo.size
    end

    # Undoes the last migrations.
    #
    # @param steps [Integer]
    # @return [Integer] how many were undone
    def rollback(steps = 1)
      prepare
      versions = applied.keys.sort_by(&:to_i).last(steps).reverse
      versions.each { |version| step(script_for(version), :down) }
      versions.size
    end

    # @return [Array<Status>] what ran (:up), what did not (:down), what ran and is gone (:missing) or was :changed
    def status
      done = tables? ? applied : {}
      known = scripts.map { |script| Status.new(script.version, script.title, state(script, done)) }
      lost = done.keys - scripts.map(&:version)
      (known + lost.map { |version| Status.new(version, "(no file)", :missing) }).sort_by { |line| line.version.to_i }
    end

    # @return [Array<Script>] what has not run yet
    def pending
      done = tables? ? applied : {}
      scripts.reject { |script| done.key?(script.version) }
    end

    # @return [String, nil] the last version that ran
    def version
      tables? ? applied.keys.max_by(&:to_i) : nil
    end

    private

    def scripts
      @scripts ||= Migration.const_get(:Script, false).all(@folder)
    end

    def state(script, done)
      return :down unless done.key?(script.version)

      changed?(script, done) ? :changed : :up
    end

    def changed?(script, done)
      sum = done[script.version]
      sum && sum != script.checksum
    end

    # Versions without a checksum were applied by someone else, such as Rails: nothing is known of their files.
    def check_history
      done = tables? ? applied : {}
      changed = scripts.find { |script| changed?(script, done) }
      raise MigrationError, changed_message(changed) if changed

      lost = done.keys.find { |version| done[version] && scripts.none? { |script| script.version == version } }
      raise MigrationError, missing_message(lost) if lost
    end

    def changed_message(script)
      "#{script.path} was changed after it ran. Put it back and say the change in a new migration; or roll it back " \
        "first with the old file. If only its form changed, delete its row in #{CHECKSUMS}."
    end

    def missing_message(version)
      "migration #{version} ran on this database, but #{@folder} has no file for it. Bring the file back; if it is " \
        "gone for good, delete its row in #{CHECKSUMS}."
    end

    def script_for(version)
      scripts.find { |script| script.version == version } || raise(MigrationError, missing_message(version))
    end

    def step(script, direction)
      return print_sql(script, direction) if @sql

      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      return unless in_transaction(script) { apply(script, direction) }

      milliseconds = (Process.clock_gettime(Process::CLOCK_MONOTONIC) - started) * 1000
      @out.puts("#{script.version} #{script.title}  #{direction}  #{milliseconds.round(1)} ms")
    rescue Error => error
      raise if error.is_a?(MigrationError)

      kept = transaction?(script) ? "; nothing of it was kept" : "; what ran before the error stays"
      raise MigrationError, "#{script.version} #{script.title} #{direction} failed: #{error.message}#{kept}"
    ensure
      @database.schema.forget
    end

    # Another process may have been faster while this one waited for the transaction.
    def apply(script, direction)
      return false if applied.key?(script.version) == (direction == :up)

      script.build(@database).run(direction)
      direction == :up ? enter(script) : strike(script)
      true
    end

    def in_transaction(script, &block)
      transaction?(script) ? Transaction.run(@database, &block) : yield
    end

    def transaction?(script)
      @database.dialect.transactional_ddl? && script.transaction?
    end

    def print_sql(script, direction)
      @out.puts("-- #{script.version} #{script.title} #{direction}")
      script.build(@database, out: @out).run(direction)
      @out.puts("INSERT INTO #{VERSIONS} (version) VALUES ('#{script.version}');") if direction == :up
      @out.puts("DELETE FROM #{VERSIONS} WHERE version = '#{script.version}';") if direction == :down
    end

    def enter(script)
      @database.query("INSERT INTO #{VERSIONS} (version) VALUES (?)", script.version)
      @database.query("INSERT INTO #{CHECKSUMS} (version, checksum) VALUES (?, ?)", script.version, script.checksum)
    end

    def strike(script)
      [VERSIONS, CHECKSUMS].each { |table| @database.query("DELETE FROM #{table} WHERE version = ?", script.version) }
    end

    # @return [Hash{String => String, nil}] versions and checksums
    def applied
      @database.query("SELECT v.version AS version, c.checksum AS checksum FROM #{VERSIONS} v " \
                      "LEFT JOIN #{CHECKSUMS} c ON c.version = v.version")
               .to_h { |row| [row["version"].to_s, row["checksum"]] }
    end

    def tables?
      @tables ||= table?(VERSIONS) && table?(CHECKSUMS)
    end

    def table?(name)
      sql, binds = @database.dialect.table_query(name)
      !@database.await(sql, binds).to_a.empty?
    end

    def prepare
      return if @sql

      @database.query("CREATE TABLE IF NOT EXISTS #{VERSIONS} (version VARCHAR(255) NOT NULL PRIMARY KEY)")
      @database.query("CREATE TABLE IF NOT EXISTS #{CHECKSUMS} " \
                      "(version VARCHAR(255) NOT NULL PRIMARY KEY, checksum VARCHAR(64) NOT NULL)")
    end
  end
end
