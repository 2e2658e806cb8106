# frozen_string_literal: true

# Owns how a pgbouncer of the tests is started in front of the suite's PostgreSQL and asked. Every database behind it
# is pooled by transaction, except `{STATEMENTS}`, which is the second database of the server, pooled by statement.

require_relative "recipe"

module Support
  module Servers
    # pgbouncer 1.18 or newer.
    class PgBouncer < Recipe
      # The name of the database that is pooled by statement.
      STATEMENTS = "statements"
      # Few connections to the server, so that clients have to share them.
      SETTINGS = {
        listen_addr: "127.0.0.1", auth_type: "trust", pool_mode: "transaction", default_pool_size: 4,
        max_client_conn: 400, query_wait_timeout: 10, log_connections: 0, log_disconnections: 0, log_stats: 0
      }.freeze
      private_constant :SETTINGS

      # @param upstream [String, Integer] PostgreSQL's port
      def initialize(folder, port, upstream)
        super(folder, port)
        @upstream = upstream
      end

      def kind = :pgbouncer
      def scheme = "postgres"
      def system_user = "postgres"
      def system_database = "postgres"
      def stop_signal = :TERM
      def pid_file = File.join(folder, "pid")
      def socket = File.join(folder, ".s.PGSQL.#{port}")

      # @return [void] its file of settings and of users is made
      def prepare
        File.write(File.join(folder, "users"), "\"#{USER}\" \"\"\n")
        File.write(settings_file, <<~INI)
          [databases]
          #{STATEMENTS} = host=127.0.0.1 port=#{@upstream} dbname=replica pool_mode=statement
          * = host=127.0.0.1 port=#{@upstream}

          [pgbouncer]
          #{settings.map { |name, value| "#{name} = #{value}" }.join("\n")}
        INI
        hand_over(folder)
      end

      def command
        [Recipe.program("pgbouncer"), "--quiet", settings_file]
      end

      def set_up; end

      # Rows as lines, columns divided by `|`, NULL as an empty text.
      def client_command(database)
        [Recipe.program("psql"), "--no-psqlrc", "-AtqX", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", port.to_s,
         "-U", USER, "-d", database]
      end

      private

      def settings_file = File.join(folder, "pgbouncer.ini")

      def settings
        SETTINGS.merge(listen_port: port, unix_socket_dir: folder, pidfile: pid_file,
                       auth_file: File.join(folder, "users"))
      end
    end
  end
end
