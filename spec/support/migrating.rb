# frozen_string_literal: true

require "stringio"

module Support
  # Migrations written, run and watched.
  module Migrating
    # @return [String] the folder of the migrations
    def migrations
      @migrations ||= File.join(sqlite_folder, "migrations").tap { |folder| FileUtils.mkdir_p(folder) }
    end

    # Writes one migration with the next version.
    # @param body [String] what is in the class, or SQL
    def migration(name, body, version: nil)
      version ||= 20_240_101_000_000 + Dir.children(migrations).size
      path = File.join(migrations, "#{version}_#{name}")
      return File.write(path, body) if name.end_with?(".sql")

      title = name.split("_").map(&:capitalize).join
      File.write("#{path}.rb", "class #{title} < AsyncRecord::Migration\n#{body}\nend\n")
    end

    # Writes a migration whose `change` is the given text.
    def change(name, body)
      migration(name, "def change\n#{body}\nend")
    end

    def migrator(on: database, **options)
      AsyncRecord::Migrator.new(on, folder: migrations, out: said, **options)
    end

    # @return [StringIO] what migrators said
    def said
      @said ||= StringIO.new
    end

    def migrate(...)
      migrator.migrate(...)
    end

    # Runs commands without a file.
    def alter(on = database, direction = :up, &body)
      klass = Class.new(AsyncRecord::Migration) { define_method(:change, &body) }
      AsyncRecord.transaction(database: on) { klass.new(on).run(direction) }
    end

    def dump_of(database)
      AsyncRecord::SchemaDump.for(database).to_s
    end
  end
end

RSpec.configure { |config| config.include Support::Migrating }
