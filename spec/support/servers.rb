# frozen_string_literal: true

# Owns the database servers of the tests: real ones, of their own, on free ports and with data in a temporary folder.
# Each is started at its first use and ended with this process, however that ends. Needs no rspec: `bin/with-databases`
# uses it too.

require "monitor"
require_relative "servers/handle"

module Support
  # See the head of this file.
  module Servers
    # Which server `:mysql` is: MariaDB, or MySQL when FASTR_MYSQL says "mysql".
    MYSQL = { "mariadb" => MariaDB, "mysql" => MySQL }.slice(ENV.fetch("FASTR_MYSQL", "mariadb")).first ||
            raise(Error, "FASTR_MYSQL is mariadb or mysql, not #{ENV.fetch('FASTR_MYSQL')}")
    KINDS = { postgresql: ["postgresql", PostgreSQL], mysql: MYSQL, pgbouncer: ["pgbouncer", PgBouncer] }.freeze
    private_constant :MYSQL, :KINDS

    @running = {}
    @starting = Monitor.new

    class << self
      # @return [Handle]
      def postgresql = server(:postgresql)
      # @return [Handle]
      def mysql = server(:mysql)

      # @return [Handle] in front of {.postgresql}
      def pgbouncer = server(:pgbouncer)

      # @return [Boolean] whether `:mysql` is a MariaDB
      def mariadb? = MYSQL.first == "mariadb"

      # @param kind [:postgresql, :mysql, :pgbouncer]
      # @return [Handle] started, if it was not running
      # @raise [Error] also when it is not installed
      def server(kind)
        @starting.synchronize do
          before = kind == :pgbouncer ? [server(:postgresql).port] : []
          @running[kind] ||= Handle.new(*KINDS.fetch(kind), *before)
        end
      end

      # Starts both databases at once.
      # @return [Array<Handle>]
      def all
        handles = KINDS.slice(:postgresql, :mysql).map do |kind, how|
          Thread.new { [kind, @running[kind] || Handle.new(*how)] }
        end.to_h(&:value)
        @running.update(handles).values
      end

      # Databases made since the last call may go; each server drops its own when it makes the next.
      # @return [void]
      def forget_databases
        @running.each_value(&:forget_databases)
      end

      # Ends what runs.
      # @return [void]
      def close
        @running.each_value(&:close)
        @running.clear
      end
    end
  end
end

at_exit { Support::Servers.close }
