# frozen_string_literal: true

# Owns how a PostgreSQL of the tests is made, started and asked. The database user `fastr` needs no password; there is
# one user for each way to log in (see {SETUP}).

require_relative "recipe"
require_relative "certificates"

module Support
  module Servers
    # PostgreSQL 15 or newer; the newest that is installed.
    class PostgreSQL < Recipe
      # Small; what is committed survives the server's death, not the machine's.
      SETTINGS = {
        fsync: "off", full_page_writes: "off", wal_level: "minimal", max_wal_senders: 0,
        shared_buffers: "32MB", max_connections: 400, autovacuum: "off", jit: "off", ssl: "on",
        max_prepared_transactions: 10, deadlock_timeout: "200ms", listen_addresses: "127.0.0.1",
        log_checkpoints: "off", lc_messages: "C", timezone: "UTC"
      }.freeze
      # The first line that fits decides.
      LOGINS = <<~HBA
        local   all all                        trust
        host    all scram         127.0.0.1/32 scram-sha-256
        host    all md5           127.0.0.1/32 md5
        host    all plain         127.0.0.1/32 password
        hostssl all secure        127.0.0.1/32 scram-sha-256
        host    all secure        127.0.0.1/32 reject
        hostssl all certified     127.0.0.1/32 cert
        host    all certified     127.0.0.1/32 reject
        hostssl all uncertain     127.0.0.1/32 reject
        host    all all           127.0.0.1/32 trust
      HBA
      # `secure` is let in over TLS only, `certified` with the client certificate only, `uncertain` without TLS only.
      SETUP = <<~SQL.freeze
        SET password_encryption = 'scram-sha-256';
        CREATE ROLE scram LOGIN PASSWORD '#{PASSWORD}';
        CREATE ROLE plain LOGIN PASSWORD '#{PASSWORD}';
        CREATE ROLE secure LOGIN PASSWORD '#{PASSWORD}';
        CREATE ROLE certified LOGIN;
        CREATE ROLE uncertain LOGIN;
        SET password_encryption = 'md5';
        CREATE ROLE md5 LOGIN PASSWORD '#{PASSWORD}';
        CREATE DATABASE #{DATABASE};
        CREATE DATABASE replica;
      SQL
      private_constant :SETTINGS, :LOGINS, :SETUP

      def self.binaries
        newest = Dir["/usr/lib/postgresql/*/bin"].max_by { |folder| folder[/\d+/].to_i }
        [newest].compact
      end

      def kind = :postgresql
      def scheme = "postgres"
      def system_user = "postgres"
      def system_database = "postgres"
      def stop_signal = :INT
      def pid_file = File.join(data, "postmaster.pid")
      def socket = File.join(folder, ".s.PGSQL.#{port}")

      # @return [void] the data folder is made
      def prepare
        Certificates.make(certificates, client_name: "certified")
        hand_over(folder)
        yield program("initdb"), "--pgdata", data, "--username", USER, "--auth", "trust", "--encoding", "UTF8",
              "--locale", "C", "--no-sync"
        File.write(File.join(data, "pg_hba.conf"), LOGINS)
        tls = { ssl_cert_file: "server.pem", ssl_key_file: "server.key", ssl_ca_file: "ca.pem" }
        settings = SETTINGS.merge(tls.transform_values { |file| File.join(certificates, file) })
        settings = settings.merge(port: port, unix_socket_directories: folder)
        File.open(File.join(data, "postgresql.conf"), "a") do |file|
          settings.each { |name, value| file.puts("#{name} = '#{value}'") }
        end
      end

      def command
        [program("postgres"), "-D", data]
      end

      # @return [void] users and databases exist
      def set_up
        client(SETUP, database: system_database)
      end

      # Rows as lines, columns divided by `|`, NULL as an empty text.
      def client_command(database)
        [program("psql"), "--no-psqlrc", "-AtqX", "-v", "ON_ERROR_STOP=1", "-h", folder, "-p", port.to_s, "-U", USER,
         "-d", database]
      end

      # @return [String] the statements that replace some databases by another
      def renew(old, new)
        [*old.map { |name| "DROP DATABASE IF EXISTS #{name} WITH (FORCE);" }, "CREATE DATABASE #{new};"].join("\n")
      end

      private

      def program(name)
        Recipe.program(name, *self.class.binaries)
      end
    end
  end
end
