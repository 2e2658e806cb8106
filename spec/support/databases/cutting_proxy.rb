# frozen_string_literal: true

# Owns a TCP proxy in front of a database server that cuts connections after so many bytes, or changes what the server
# says first. Refuses to understand any protocol.

require "socket"

module Support
  module Databases
    # Between a program and its server.
    class CuttingProxy
      CHUNK = 16_384
      # Closing with this option set sends a reset instead of an orderly end.
      RESET = [1, 0].pack("ii").freeze
      private_constant :CHUNK, :RESET

      # @return [Integer] where it listens
      attr_reader :port
      # @return [Hash{Symbol => Integer}] bytes that went :up to the server and :down from it, on the last connection
      attr_reader :passed
      # @return [Integer] connections so far
      attr_reader :connections

      # @param upstream [Integer] the server's port
      # @yieldparam greeting [String] what the server says first, which may be changed
      def initialize(upstream, &rewrite)
        @upstream = upstream
        @rewrite = rewrite
        @limits = {}
        @connections = 0
        @passed = { up: 0, down: 0 }
        @server = TCPServer.new("127.0.0.1", 0)
        @port = @server.addr[1]
        @pairs = []
        @accepting = Thread.new { accept }
      end

      # From now on every new connection ends after so many bytes in one direction.
      # @param reset [Boolean] by a reset instead of an orderly end
      # @return [void]
      def cut(direction, after, reset: false)
        @limits = { direction => after, reset: reset }
      end

      # @return [void]
      def cut_nothing
        @limits = {}
      end

      # @return [void]
      def close
        @accepting.kill
        @server.close
        @pairs.each { |thread| thread.kill.join }
      end

      private

      def accept
        loop do
          client = @server.accept
          @connections += 1
          @pairs.select!(&:alive?)
          @pairs << Thread.new(client, @limits, @passed = { up: 0, down: 0 }) { |*pair| serve(*pair) }
        end
      end

      def serve(client, limits, passed)
        server = TCPSocket.new("127.0.0.1", @upstream)
        pairs = { client => [server, :up], server => [client, :down] }
        loop do
          IO.select(pairs.keys).first.each do |from|
            to, direction = pairs.fetch(from)
            return finish(client, server, limits) unless pass(from, to, direction, limits[direction], passed)
          end
        end
      rescue SystemCallError, IOError
        finish(client, server, limits)
      ensure
        [client, server].compact.each(&:close)
      end

      # @return [Boolean] whether the connection goes on
      def pass(from, to, direction, limit, passed)
        bytes = from.readpartial(CHUNK)
        bytes = @rewrite.call(bytes) if @rewrite && direction == :down && passed[:down].zero?
        rest = limit ? limit - passed[direction] : bytes.bytesize
        to.write(bytes.byteslice(0, rest))
        passed[direction] += [rest, bytes.bytesize].min
        limit.nil? || passed[direction] < limit
      end

      def finish(client, _server, limits)
        client.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, RESET) if limits[:reset]
      rescue SystemCallError, IOError
        nil # it is closed already
      end
    end
  end
end
