# frozen_string_literal: true

# Owns asking a database by its command line client (psql, mariadb, sqlite3) and reading the answer, so that what this
# library stored and read is judged by something else.

require "open3"
require "uri"
require_relative "../servers"

module Support
  module Databases
    # Rows as lists of texts; NULL is nil.
    module Witness
      FIELD = "\x1f"
      RECORD = "\x1e"
      NULL = "\x1aNULL\x1a"
      ESCAPES = { "\\n" => "\n", "\\t" => "\t", "\\0" => "\0", "\\\\" => "\\" }.freeze
      private_constant :FIELD, :RECORD, :NULL, :ESCAPES

      class << self
        # @param url [String] of an AsyncRecord::Database
        # @return [Array<Array<String, nil>>]
        # @raise [Servers::Error] with what the client said
        def ask(url, sql)
          case url
          when /\Asqlite:/ then sqlite(url.delete_prefix("sqlite:"), sql)
          when /\Apostgres/ then postgresql(name_in(url), sql)
          when /\Amysql/ then mysql(name_in(url), sql)
          else raise ArgumentError, "no client for #{url}"
          end
        end

        private

        def name_in(url)
          URI(url).path.delete_prefix("/")
        end

        def sqlite(path, sql)
          program = Servers::Recipe.program("sqlite3")
          split(run([program, "-batch", "-ascii", "-noheader", "-nullvalue", NULL, path], sql))
        end

        def postgresql(name, sql)
          command = Servers.postgresql.recipe.client_command(name)
          split(run([*command, "-F", FIELD, "-R", RECORD, "-P", "null=#{NULL}"], sql))
        end

        # Its only way to show NULL is the word; a text that is this word reads the same.
        def mysql(name, sql)
          output = run(Servers.mysql.recipe.client_command(name), sql)
          output.lines(chomp: true).map do |line|
            fields = line.empty? ? [""] : line.split("\t", -1)
            fields.map { |text| text == "NULL" ? nil : text.gsub(/\\[nt0\\]/, ESCAPES) }
          end
        end

        def split(output)
          output.chomp.split(RECORD).map do |line|
            fields = line.split(FIELD, -1)
            fields = [""] if fields.empty?
            fields.map { |text| text == NULL ? nil : text }
          end
        end

        def run(command, sql)
          output, error, status = Open3.capture3(*command, stdin_data: sql, binmode: true)
          failed = !status.success? || !error.empty?
          raise Servers::Error, "#{command.first}: #{error.force_encoding(Encoding::UTF_8)}" if failed

          output.force_encoding(Encoding::UTF_8)
        end
      end
    end
  end
end
