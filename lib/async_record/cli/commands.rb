# frozen_string_literal: true

# Owns what each `fastr db` command does. Refuses to parse arguments and to print errors: the CLI does.

module AsyncRecord
  class CLI
    # The commands. Their arguments are what follows them on the command line.
    module Commands
      # Makes the database; for SQLite the folder and the file.
      def create
        return @out.puts(administration.sql(:create).map { |sql| "#{sql};" }) if @options[:sql]

        @out.puts(administration.create)
      end

      # Removes the database.
      def drop
        refuse_production("drop would remove")
        return @out.puts(administration.sql(:drop).map { |sql| "#{sql};" }) if @options[:sql]

        @out.puts(administration.drop)
      end

      # Runs what has not run yet, or goes to a version, up or down.
      def migrate(version = @options[:target])
        refuse_production("going down to #{version} may destroy data of") if migrator.down?(version)
        count = migrator.migrate(version)
        @out.puts("nothing to migrate") if count.zero? && !@options[:sql]
        keep_schema
      end

      # Undoes the last migrations.
      def rollback
        go_back(:rollback, "roll back")
      end

      # Undoes the last migrations and runs them again.
      def redo
        go_back(:redo, "redo")
      end

      # Prints which migrations have run.
      def status
        lines = migrator.status
        return @out.puts("there are no migrations in #{target.relative_folder}") if lines.empty?

        width = [8, *lines.map { |line| line.state.to_s.size }].max
        lines.each { |line| @out.puts("#{line.state.to_s.ljust(width)} #{line.version}  #{line.name}") }
      end

      # Prints the last version.
      def version
        @out.puts(migrator.version || "no migration has run")
      end

      # Writes the schema into a file.
      def dump
        write_schema
        @out.puts("#{target.relative_schema} written")
      end

      # Makes the tables of the file in an empty database.
      def load
        refuse_production("load would fill")
        raise Error, "there is no #{target.relative_schema}; fastr db dump writes it" unless File.exist?(target.schema)

        text = File.read(target.schema, encoding: "UTF-8")
        return @out.puts(text) if @options[:sql]

        schema_dump.load(text)
        migrator.adopt
        @out.puts("#{target.relative_schema} loaded")
      end

      # Runs db/seeds.rb.
      def seed
        path = File.join(@root, "db/seeds.rb")
        return @out.puts("there is no db/seeds.rb") unless File.exist?(path)

        database
        Kernel.load(path)
        @out.puts("db/seeds.rb done")
      end

      # Starts over.
      def reset
        refuse_production("reset would destroy")
        drop
        create
        migrate(nil)
        seed
      end

      # Makes the database ready on a new machine.
      def setup
        refuse_production("setup would fill")
        create
        load if File.exist?(target.schema) && schema_dump.empty?
        migrate(nil)
        seed
      end

      # Tells whether files, database and schema file fit together.
      # @raise [Error] when they do not
      def check
        problems = migrator.problems
        problems += drift if problems.empty?
        return @out.puts("all is well: #{migrator.version || 'no migration has run'}") if problems.empty?

        raise Error, "the database does not fit the files:\n#{problems.map { |line| "  #{line}" }.join("\n")}"
      end

      # Writes a migration.
      def new(name = nil, *fields)
        raise Error, "say a name: fastr db new add_slug_to_posts slug:string:uniq" if name.to_s.empty?

        @out.puts("create  #{Generator.new(target.folder, root: @root).write(name, fields)}")
      end

      private

      def go_back(command, words)
        refuse_production("#{command} may destroy data of")
        count = migrator.public_send(command, steps)
        @out.puts("nothing to #{words}") if count.zero?
        keep_schema
      end

      def migrator
        Migrator.new(database, folder: target.folder, out: @out, sql: @options[:sql], **@options.slice(:wait))
      end

      def administration
        Administration.new(database)
      end

      def schema_dump
        SchemaDump.for(database)
      end

      def steps
        number = Integer(@options[:steps], exception: false)
        return number if number&.positive?

        raise Error, "STEP is a number above 0, not #{@options[:steps].inspect}"
      end

      def write_schema
        FileUtils.mkdir_p(File.dirname(target.schema))
        File.write(target.schema, schema_dump.to_s)
      end

      # A schema file that is there stays true; production has no business with it.
      def keep_schema
        return if @options[:sql] || production? || !File.exist?(target.schema)
        return if File.read(target.schema, encoding: "UTF-8") == schema_dump.to_s

        dump
      end

      def drift
        return [] unless File.exist?(target.schema)

        known = File.read(target.schema, encoding: "UTF-8").lines(chomp: true)
        real = schema_dump.to_s.lines(chomp: true)
        return [] if known == real

        gone = (known - real).first(5).map { |line| "- #{line.strip}" }
        come = (real - known).first(5).map { |line| "+ #{line.strip}" }
        ["#{target.relative_schema} is not what the database has (if that is right: fastr db dump)", *gone, *come]
      end
    end
    private_constant :Commands
  end
end
