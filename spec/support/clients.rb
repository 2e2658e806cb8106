# frozen_string_literal: true

require "net/http"
require "socket"

module Support
  # HTTP as a client speaks it: `http` for ordinary requests, `raw` for bytes that no client library would send.
  module Clients
    # @return [Net::HTTPResponse]
    def http(port, path, method: "GET", body: nil, headers: {})
      Net::HTTP.start("127.0.0.1", port, read_timeout: 20) do |connection|
        connection.send_request(method, path, body, headers)
      end
    end

    # Sends the bytes as they are and reads until the server closes.
    # @return [String] everything the server sent, binary
    def raw(port, bytes, half_close: false)
      TCPSocket.open("127.0.0.1", port) do |socket|
        socket.write(bytes)
        socket.close_write if half_close
        socket.read.b
      end
    end

    # A connection for an exchange of several steps; closed when the block ends.
    def connection(port, &block)
      TCPSocket.open("127.0.0.1", port, &block)
    end
  end
end
