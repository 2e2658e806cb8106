# frozen_string_literal: true

# Owns the files of migrations: VERSION_name.rb with a class, or VERSION_name.up.sql with an optional .down.sql, or one
# VERSION_name.sql, whose way down follows a line `-- down`. Knows a file's version, its checksum, and how to make a
# migration of it.

require "digest"

module AsyncRecord
  class Migration
    # One migration as a file.
    class Script
      NAME = /\A(?<version>\d+)_(?<name>[a-z0-9_]+?)(?:\.(?<direction>up|down))?\.(?<kind>rb|sql)\z/
      private_constant :NAME

      # @return [String]
      attr_reader :version, :name, :path

      class << self
        # @param folder [String]
        # @return [Array<Script>] by version
        # @raise [MigrationError] when two files share a version
        def all(folder)
          scripts = Dir.children(folder).filter_map { |file| from(folder, file) }.sort_by { |one| one.version.to_i }
          twins = scripts.group_by(&:version).values.find { |group| group.size > 1 }
          return scripts unless twins

          raise MigrationError, "two migrations have the version #{twins.first.version}: " \
                                "#{twins.map { |one| File.basename(one.path) }.join(' and ')}; rename one"
        rescue Errno::ENOENT
          []
        end

        private

        def from(folder, file)
          match = NAME.match(file)
          new(File.join(folder, file), match) if match && match[:direction] != "down"
        end
      end

      # @api private
      def initialize(path, match)
        @path = path
        @version = match[:version]
        @name = match[:name]
        @kind = match[:kind]
      end

      # @return [String] what shows later whether the file was changed
      def checksum
        Digest::SHA256.hexdigest(File.binread(path))
      end

      # @return [String] the class name
      def title
        Inflector.camelize(name)
      end

      # @return [String] for messages
      def to_s
        "#{version} #{title}"
      end

      # @return [Class] the migration
      # @raise [MigrationError]
      def migration_class
        @migration_class ||= @kind == "sql" ? sql_class : ruby_class
      end

      private

      # The file's constants live in a module of their own, so that it can be read again and hides nothing.
      def ruby_class
        space = Module.new
        load(File.expand_path(path), space)
        found = space.const_get(title) if space.const_defined?(title, false)
        return found if found.is_a?(Class) && found <= Migration

        raise MigrationError, "#{path} must define `class #{title} < AsyncRecord::Migration`"
      end

      def sql_class
        up, down = Sources.halves(File.read(path, encoding: "UTF-8"))
        down_path = path.sub(/(?:\.up)?\.sql\z/, ".down.sql")
        down ||= File.read(down_path, encoding: "UTF-8") if File.exist?(down_path)
        written_class(up, down, File.basename(path))
      end

      def written_class(up, down, file)
        Class.new(Migration) do
          no_transaction! unless Sources.transaction?(up)
          define_method(:up) { execute(up) }
          define_method(:down) do
            next execute(down) if down

            raise IrreversibleMigration, "#{file} has no way down: no line `-- down`, no .down.sql beside it"
          end
        end
      end
    end
    private_constant :Script
  end
end
