# frozen_string_literal: true

module Fastr
  # Finds out for `fastr db` which databases an application has: by its app/config/init.rb, or by reading a single-file
  # application up to where its server would start. It owns that search; which database is meant is AsyncRecord's.
  module DatabaseFile
    # Commands whose code of the application uses the models.
    WHOLE = %w[seed reset setup].freeze
    private_constant :WHOLE

    class << self
      # @param command [String] of `fastr db`
      # @param file [String, nil] what `-c` names
      # @return [void]
      # @raise [ConfigurationError, BootError]
      def load(command, file = nil)
        file ||= single_file
        if file then read(file)
        elsif WHOLE.include?(command) && File.file?(AppFile::ROUTES) then AppFile.load_application
        else AppFile.load_init
        end
      end

      # Where a server would start while a file is only read, the reading ends.
      # @return [void]
      # @api private
      def stop
        throw(:fastr_database_file) if @reading
      end

      private

      # A folder's application says its database in init.rb.
      def single_file
        return if File.file?(Application::INIT_FILE)

        AppFile::DEFAULTS.find { |name| File.file?(name) && File.read(name).match?(/AsyncRecord\b|\bset_connection\b/) }
      end

      def read(file)
        raise ConfigurationError, "there is no #{file} here (#{Dir.pwd})" unless File.file?(file)

        @reading = true
        # What the command prints may be read by a program.
        output = $stdout
        $stdout = $stderr
        catch(:fastr_database_file) { file.end_with?(".ru") ? AppFile.load(file) : evaluate(file) }
      ensure
        @reading = false
        $stdout = output if output
      end

      # A program may ask tables that the migrations are to make. Once it has said its database, that is no matter.
      def evaluate(file)
        TopLevel.install
        Kernel.load(File.expand_path(file))
      rescue AsyncRecord::QueryError => error
        raise BootFailure.of(error, File.expand_path(file)) if AsyncRecord.databases.empty?

        warn("#{file} was read up to an error of the database: #{error.message.lines.first.strip}")
      rescue *BootFailure::ERRORS => error
        raise error if error.is_a?(Error) || error.is_a?(AsyncRecord::Error)

        raise BootFailure.of(error, File.expand_path(file))
      end
    end
  end
  private_constant :DatabaseFile
end
