# frozen_string_literal: true

# Owns the two tables that say which migrations ran. `schema_migrations` is Rails' own, untouched, so that a program can
# change over in both directions; what Rails does not know is in a second table beside it: the checksum of each file,
# and which migration was cut off in the middle. Refuses to judge what it finds.

module AsyncRecord
  class Migration
    # Which migrations ran on a database.
    class History
      VERSIONS = "schema_migrations"
      CHECKSUMS = "schema_migration_checksums"
      # Stands where a checksum will be once the migration has ended.
      UNFINISHED = "unfinished"

      # @param database [Database]
      def initialize(database)
        @database = database
      end

      # @return [Array<String>] what makes the tables
      def ddl
        ["CREATE TABLE IF NOT EXISTS #{VERSIONS} (version VARCHAR(255) NOT NULL PRIMARY KEY)",
         "CREATE TABLE IF NOT EXISTS #{CHECKSUMS} " \
         "(version VARCHAR(255) NOT NULL PRIMARY KEY, checksum VARCHAR(64) NOT NULL)"]
      end

      # Makes the tables.
      # @return [void]
      def prepare
        return if table?(VERSIONS) && table?(CHECKSUMS)

        ddl.each { |sql| @database.script(sql) }
      end

      # @return [Hash{String => String, nil}] versions that ran, and checksums; nil where nothing is known of the file
      def applied
        return {} unless table?(VERSIONS)

        sums = checksums
        query("SELECT version FROM #{VERSIONS}").to_h { |row| [row["version"].to_s, sums[row["version"].to_s]] }
      end

      # @return [Array<String>] versions that were begun and never ended
      def unfinished
        checksums.select { |_, sum| sum == UNFINISHED }.keys
      end

      # @return [Boolean]
      def applied?(version)
        query("SELECT 1 AS one FROM #{VERSIONS} WHERE version = ?", version).any?
      end

      # Notes that a migration that cannot be taken back begins.
      # @return [void]
      def begin(script)
        remember(script.version, UNFINISHED)
      end

      # Notes that a migration ran in a direction.
      # @return [void]
      def record(script, direction)
        query("DELETE FROM #{VERSIONS} WHERE version = ?", script.version)
        forget(script.version)
        return unless direction == :up

        query("INSERT INTO #{VERSIONS} (version) VALUES (?)", script.version)
        query("INSERT INTO #{CHECKSUMS} (version, checksum) VALUES (?, ?)", script.version, script.checksum)
      end

      # Takes the files as they are for those that ran.
      # @param scripts [Array<Script>]
      # @return [void]
      def adopt(scripts)
        done = applied
        scripts.each { |script| remember(script.version, script.checksum) if done.key?(script.version) }
      end

      # @return [void]
      def forget(version)
        query("DELETE FROM #{CHECKSUMS} WHERE version = ?", version)
      end

      # @param name [String]
      # @return [Boolean]
      def table?(name)
        sql, binds = @database.dialect.table_query(name)
        AsyncRecord.using_primary { @database.await(sql, binds).to_a.any? }
      end

      private

      def remember(version, checksum)
        forget(version)
        query("INSERT INTO #{CHECKSUMS} (version, checksum) VALUES (?, ?)", version, checksum)
      end

      def checksums
        return {} unless table?(CHECKSUMS)

        query("SELECT version, checksum FROM #{CHECKSUMS}").to_h { |row| [row["version"].to_s, row["checksum"]] }
      end

      # A replica may not know yet what the primary does.
      def query(sql, *binds)
        AsyncRecord.using_primary { @database.query(sql, *binds) }
      end
    end
    private_constant :History
  end
end
