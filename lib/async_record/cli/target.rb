# frozen_string_literal: true

# Owns the answer to which database a command means, and which files belong to it. Named databases have files of their
# own beside the first one's, as Rails names them: db/log_migrate, db/log_schema.sql.

module AsyncRecord
  class CLI
    # One database and its files.
    class Target
      # @return [String, nil] the name; nil for the first database
      attr_reader :name

      # @param database [String, nil] a name or a URL
      # @param root [String]
      # @param env [#[]]
      def initialize(database, root:, env:, folder: nil, schema: nil)
        @url = database if database&.include?(":")
        @name = database unless @url || database == "primary"
        @root = root
        @env = env
        @folder = folder
        @schema = schema
      end

      # @return [Database]
      # @raise [ConfigurationError]
      def database
        @database ||= @url ? borrowed : configured
      end

      # A URL holds for its command: what runs in this process afterwards has its own database again.
      # @return [void]
      def give_back
        AsyncRecord.replace(@own).close if @borrowed
        @borrowed = false
      end

      # @return [String]
      def folder
        File.join(@root, relative_folder)
      end

      # @return [String]
      def relative_folder
        @folder || (@name ? "db/#{@name}_migrate" : "db/migrate")
      end

      # @return [String]
      def schema
        File.join(@root, relative_schema)
      end

      # @return [String]
      def relative_schema
        @schema || (@name ? "db/#{@name}_schema.sql" : "db/schema.sql")
      end

      private

      # Under the first name: migrations and seeds ask for it by no other.
      def borrowed
        own = AsyncRecord.databases[:primary]
        AsyncRecord.connect(rooted(@url)).tap do
          @own = own
          @borrowed = true
        end
      end

      # What the application said, else the environment.
      def configured
        @name ? AsyncRecord.database(@name.to_sym) : Base.database
      rescue ConfigurationError => error
        variable = @name ? "#{@name.upcase}_DATABASE_URL" : "DATABASE_URL"
        url = @env[variable]
        return AsyncRecord.connect(rooted(url), name: (@name || "primary").to_sym) if url

        raise error unless @name

        raise ConfigurationError, "#{error.message}, or set #{variable}"
      end

      # A relative SQLite path means the application's folder.
      def rooted(url)
        path = url[%r{\Asqlite3?:(?://)?(?!/)(.+)\z}, 1]
        return url if path.nil? || path.start_with?(":memory:", "/")

        "sqlite:#{File.expand_path(path, @root)}"
      end
    end
    private_constant :Target
  end
end
