# frozen_string_literal: true

# Owns how a MySQL (the one that is no MariaDB) of the tests is made, started and asked: what differs from {MariaDB}.
# It is the server behind `:mysql` when FASTR_MYSQL is "mysql"; bin/setup-mysql puts it into the cache.

require_relative "mariadb"

module Support
  module Servers
    # MySQL 8 or newer, with the character set and collation it chooses itself.
    class MySQL < MariaDB
      SETTINGS = {
        "bind-address" => "127.0.0.1", "skip-name-resolve" => nil, "disable-log-bin" => nil, "max-connections" => 600,
        "innodb-buffer-pool-size" => "32M", "innodb-redo-log-capacity" => "32M", "innodb-flush-method" => "nosync",
        "innodb-flush-log-at-trx-commit" => 2, "innodb-doublewrite" => 0, "innodb-fast-shutdown" => 2,
        "performance-schema" => "OFF", "mysqlx" => "OFF", "key-buffer-size" => "1M", "default-time-zone" => "+00:00"
      }.freeze
      # All by caching_sha2_password, its default. `sha2` has a password and may come without TLS, `secure` over TLS
      # only, `certified` with the client certificate only.
      SETUP = <<~SQL.freeze
        CREATE USER #{USER}@'%';
        GRANT ALL ON *.* TO #{USER}@'%' WITH GRANT OPTION;
        CREATE USER sha2@'%' IDENTIFIED WITH caching_sha2_password BY '#{PASSWORD}';
        CREATE USER secure@'%' IDENTIFIED BY '#{PASSWORD}' REQUIRE SSL;
        CREATE USER certified@'%' REQUIRE X509;
        CREATE DATABASE #{DATABASE};
        CREATE DATABASE replica;
        CREATE DATABASE harness;
        GRANT ALL ON *.* TO sha2@'%', secure@'%', certified@'%';
        DELIMITER //
        CREATE PROCEDURE harness.forget(name varchar(64))
        BEGIN
          DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;
          SET @statement = concat('DROP DATABASE IF EXISTS ', name);
          PREPARE forgetting FROM @statement;
          EXECUTE forgetting;
          DEALLOCATE PREPARE forgetting;
        END//
      SQL
      # Where bin/setup-mysql puts it.
      CACHE = File.join(ENV.fetch("FASTR_CACHE") do
        File.join(ENV.fetch("XDG_CACHE_HOME") { File.expand_path("~/.cache") }, "fastr")
      end, "mysql/bin")
      private_constant :SETTINGS, :SETUP, :CACHE

      # @return [void] the data folder is made
      def prepare
        Certificates.make(certificates, client_name: "certified")
        hand_over(folder)
        yield program("mysqld"), *common, "--initialize-insecure", "--innodb-redo-log-capacity=32M",
              "--innodb-doublewrite=0", "--innodb-flush-method=nosync", "--innodb-flush-log-at-trx-commit=0"
      end

      def command
        settings = SETTINGS.map { |name, value| value.nil? ? "--#{name}" : "--#{name}=#{value}" }
        [program("mysqld"), *common, "--tmpdir=#{folder}", "--port=#{port}", "--socket=#{socket}",
         "--pid-file=#{pid_file}", "--ssl-ca=#{certificates}/ca.pem", "--ssl-cert=#{certificates}/server.pem",
         "--ssl-key=#{certificates}/server.key", *settings]
      end

      # @return [void] users and databases exist
      def set_up
        client(SETUP, database: system_database)
      end

      # Rows as lines, columns divided by tabs, NULL as the word.
      def client_command(database)
        [program("mysql"), "--no-defaults", "-A", "-N", "-B", "--default-character-set=utf8mb4", "-S", socket, "-u",
         "root", database]
      end

      # What somebody still holds a lock in stays for now.
      # @return [String] the statements that replace some databases by another
      def renew(old, new)
        ["CREATE DATABASE #{new};", "SET lock_wait_timeout = 2;",
         *old.map { |name| "CALL harness.forget('#{name}');" }].join("\n")
      end

      # The cache lies where other users cannot look, so the server runs as whoever asks for it.
      # @return [Etc::Passwd]
      def owner = Etc.getpwuid

      private

      def common
        ["--no-defaults", "--user=#{owner.name}", "--datadir=#{data}", "--secure-file-priv=NULL"]
      end

      def program(name)
        Recipe.program(name, CACHE)
      rescue Error
        raise Error, "#{name} of MySQL is not installed; run bin/setup-mysql (on Debian), or put it into the PATH"
      end
    end
  end
end
