# frozen_string_literal: true

# Owns how a MariaDB of the tests is made, started and asked. The database user `fastr` needs no password; there is one
# user for each way to log in (see {SETUP}).

require_relative "recipe"
require_relative "certificates"

module Support
  module Servers
    # MariaDB 10.11 or newer.
    class MariaDB < Recipe
      # Small; what is committed survives the server's death, not the machine's.
      SETTINGS = {
        "bind-address" => "127.0.0.1", "skip-name-resolve" => nil, "skip-log-bin" => nil, "max-connections" => 600,
        "innodb-buffer-pool-size" => "32M", "innodb-log-file-size" => "8M", "innodb-flush-log-at-trx-commit" => 2,
        "innodb-doublewrite" => 0, "innodb-fast-shutdown" => 2, "loose-debug-no-sync" => 1,
        "performance-schema" => "OFF", "character-set-server" => "utf8mb4", "collation-server" => "utf8mb4_general_ci",
        "key-buffer-size" => "1M", "aria-pagecache-buffer-size" => "1M", "default-time-zone" => "+00:00",
        "loose-innodb-snapshot-isolation" => "OFF"
      }.freeze
      # `native` and `ed25519` have a password, `secure` is let in over TLS only, `certified` with the client
      # certificate only.
      SETUP = <<~SQL.freeze
        CREATE USER #{USER}@'%';
        GRANT ALL ON *.* TO #{USER}@'%' WITH GRANT OPTION;
        CREATE USER native@'%' IDENTIFIED VIA mysql_native_password USING PASSWORD('#{PASSWORD}');
        CREATE USER secure@'%' IDENTIFIED BY '#{PASSWORD}' REQUIRE SSL;
        CREATE USER certified@'%' REQUIRE X509;
        CREATE DATABASE #{DATABASE};
        CREATE DATABASE replica;
        GRANT ALL ON *.* TO native@'%', secure@'%', certified@'%';
      SQL
      # Only where the server has the plugins; without them these users do not exist.
      PLUGINS = {
        ed25519: ["auth_ed25519", "IDENTIFIED VIA ed25519 USING PASSWORD('#{PASSWORD}')"],
        sha2: ["caching_sha2_password", "IDENTIFIED VIA caching_sha2_password USING PASSWORD('#{PASSWORD}')"]
      }.freeze
      private_constant :SETTINGS, :SETUP, :PLUGINS

      def kind = :mysql
      def scheme = "mysql"
      def system_user = "mysql"
      def system_database = "mysql"
      def stop_signal = :TERM
      def pid_file = File.join(folder, "pid")
      def socket = File.join(folder, "socket")

      # @return [void] the data folder is made
      def prepare
        Certificates.make(certificates, client_name: "certified")
        FileUtils.mkdir_p(data)
        hand_over(folder)
        yield Recipe.program("mariadb-install-db"), "--no-defaults", "--datadir=#{data}", "--skip-test-db",
              "--auth-root-authentication-method=normal", "--skip-name-resolve", "--innodb-log-file-size=8M",
              "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--loose-debug-no-sync=1"
      end

      def command
        settings = SETTINGS.map { |name, value| value.nil? ? "--#{name}" : "--#{name}=#{value}" }
        # A server that starts removes the temporary tables of every other one that shares its folder for them.
        [Recipe.program("mariadbd"), "--no-defaults", "--datadir=#{data}", "--tmpdir=#{folder}", "--port=#{port}",
         "--socket=#{socket}", "--pid-file=#{pid_file}", "--ssl-ca=#{certificates}/ca.pem",
         "--ssl-cert=#{certificates}/server.pem", "--ssl-key=#{certificates}/server.key", *settings]
      end

      # @return [void] users and databases exist
      def set_up
        client(SETUP, database: system_database)
        PLUGINS.each do |user, (library, identified)|
          client("INSTALL SONAME '#{library}'; CREATE USER #{user}@'%' #{identified}; GRANT ALL ON *.* TO #{user}@'%';",
                 database: system_database)
        rescue Error
          next # this version has no such plugin
        end
      end

      # Rows as lines, columns divided by tabs, NULL as the word.
      def client_command(database)
        [Recipe.program("mariadb"), "--no-defaults", "-A", "-N", "-B", "--default-character-set=utf8mb4", "-S", socket,
         "-u", "root", database]
      end

      # What somebody still holds a lock in stays for now.
      # @return [String] the statements that replace some databases by another
      def renew(old, new)
        drops = old.map { |name| "DROP DATABASE IF EXISTS #{name};" }
        <<~SQL
          CREATE DATABASE #{new};
          SET lock_wait_timeout = 2;
          DELIMITER //
          BEGIN NOT ATOMIC
            DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;
            #{drops.join(' ')}
          END//
        SQL
      end
    end
  end
end
