# frozen_string_literal: true

# Owns the file that says what the schema is: plain SQL, made of what the database itself tells, so that nothing it has
# is lost in a language of ours, and any client can load it. Tables are sorted by name, one column a line, columns in
# the database's order; loaded into an empty database and written again it is the same file. schema_dump/*.rb ask each
# database. Refuses to write rows, except which migrations ran.

require_relative "migrator"

module AsyncRecord
  # The schema as a file.
  #
  # @example
  #   dump = AsyncRecord::SchemaDump.for(AsyncRecord.database)
  #   File.write("db/schema.sql", dump.to_s)
  #   dump.load(File.read("db/schema.sql"))      # into an empty database
  class SchemaDump
    NAMES = { sqlite: "SQLite", postgresql: "PostgreSQL", mysql: "MySQL" }.freeze
    # Ours alone: checksums of files say nothing about the schema.
    HIDDEN = "schema_migration_checksums"
    VERSIONS = "schema_migrations"
    private_constant :NAMES, :HIDDEN, :VERSIONS

    # @param database [Database]
    # @return [SchemaDump]
    def self.for(database)
      { sqlite: SQLite, postgresql: PostgreSQL, mysql: MySQL }.fetch(database.dialect.name).new(database)
    end

    # @api private
    def initialize(database)
      @database = database
    end

    # @return [String] the whole file
    def to_s
      "#{[head, *sections.reject(&:empty?), versions].compact.join("\n\n")}\n"
    end

    # @param sql [String] a file that {#to_s} wrote
    # @return [void]
    # @raise [MigrationError] when the database is not empty, or the file is of another one
    def load(sql)
      check(sql)
      Transaction.run(@database) do
        statements = Migration.const_get(:Sources, false).statements(sql, @database.dialect)
        Migration.const_get(:Executor, false).new(@database).run(statements)
      end
    end

    # @return [Boolean] whether there is nothing yet but the history's own tables
    def empty?
      (table_names - [VERSIONS, HIDDEN]).empty?
    end

    private

    def head
      "-- #{NAMES.fetch(@database.dialect.name)} schema. Written by `fastr db dump`, loaded by `fastr db load`; " \
        "changed by migrations, not by hand."
    end

    def check(sql)
      kind = sql[/\A-- (\w+) schema\./, 1]
      own = NAMES.fetch(@database.dialect.name)
      if kind && kind != own
        raise MigrationError, "this is a schema of #{kind}, the database is #{own}; run the migrations instead"
      end
      return if empty?

      raise MigrationError, "the database has tables already; a schema is loaded into an empty one: fastr db reset, " \
                            "or fastr db drop and fastr db setup"
    end

    # Sorted from the last digit on, new lines of two branches fall in different places, and git merges them.
    def versions
      return unless table_names.include?(VERSIONS)

      rows = query("SELECT version FROM #{VERSIONS}").map { |row| row["version"].to_s }
      lines = rows.sort_by { |version| [version.reverse, version] }
                  .map { |version| "INSERT INTO #{VERSIONS} (version) VALUES (#{literal(version)});" }
      return if lines.empty?

      ["-- Which migrations ran, sorted from the last digit on so that branches merge.", *lines].join("\n")
    end

    def query(sql, *binds)
      AsyncRecord.using_primary { @database.await(sql, binds).to_a }
    end

    def quote(name)
      @database.dialect.quote(name)
    end

    def literal(value)
      Migration.const_get(:Literal, false).of(value, @database.dialect)
    end
  end
end

require_relative "schema_dump/sqlite"
require_relative "schema_dump/postgresql"
require_relative "schema_dump/mysql"
