# frozen_string_literal: true

# Owns the database servers of the tests: real ones, of their own, on free ports and with data in a temporary folder.
# Each is started at its first use and ended with this process, however that ends. Needs no rspec: `bin/with-databases`
# uses it too.

require_relative "servers/handle"

module Support
  # See the head of this file.
  module Servers
    KINDS = { postgresql: ["postgresql", PostgreSQL], mysql: ["mariadb", MariaDB] }.freeze
    private_constant :KINDS

    @running = {}
    @starting = Mutex.new

    class << self
      # @return [Handle]
      def postgresql = server(:postgresql)
      # @return [Handle]
      def mysql = server(:mysql)

      # @param kind [:postgresql, :mysql]
      # @return [Handle] started, if it was not running
      # @raise [Error] also when it is not installed
      def server(kind)
        @starting.synchronize { @running[kind] ||= Handle.new(*KINDS.fetch(kind)) }
      end

      # Starts both at once.
      # @return [Array<Handle>]
      def all
        handles = KINDS.map { |kind, how| Thread.new { [kind, @running[kind] || Handle.new(*how)] } }.to_h(&:value)
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
