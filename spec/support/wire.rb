# frozen_string_literal: true

require "io/wait"
require "socket"

module Support
  # HTTP/1.1 as it is on the wire: requests written byte by byte, answers framed as RFC 9112 says and nothing forgiven.
  module Wire
    # One answer. Names of fields are in lower case.
    Answer = Struct.new(:version, :status, :fields, :body) do
      # @return [String, nil] the only value of a field
      def [](name)
        values = all(name)
        raise "#{values.size} fields #{name}" if values.size > 1

        values.first
      end

      def all(name)
        fields.select { |field, _| field == name }.map(&:last)
      end
    end

    # Reads answers off a socket.
    class Reader
      LIMIT = 8

      def initialize(socket)
        @socket = socket
        @buffer = String.new(encoding: Encoding::BINARY)
      end

      # @param to [String] the method that is answered
      # @return [Answer]
      def answer(to: "GET")
        version, status = *line.match(%r{\A(HTTP/1\.[01]) (\d{3}) })&.captures
        raise "no status line" unless status

        fields = []
        until (text = line).empty?
          name, value = text.split(": ", 2)
          fields << [name.downcase, value]
        end
        answer = Answer.new(version, status.to_i, fields, nil)
        answer.body = bodiless?(answer, to) ? "" : body_of(answer)
        answer
      end

      # @return [Boolean] whether the server closed; raises when it sent something instead
      def ended?
        return true if @buffer.empty? && fill.nil?

        raise "expected the end, got #{@buffer.inspect}"
      end

      def rest
        nil while fill
        @buffer.slice!(0..)
      end

      def take(count)
        fill || raise(EOFError, "#{count} bytes expected, #{@buffer.bytesize} came") until @buffer.bytesize >= count
        @buffer.slice!(0, count)
      end

      def line
        fill || raise(EOFError, "in a line: #{@buffer.inspect}") until (ending = @buffer.index("\r\n"))
        @buffer.slice!(0, ending + 2)[0, ending]
      end

      private

      def bodiless?(answer, method)
        method == "HEAD" || answer.status < 200 || [204, 304].include?(answer.status)
      end

      def body_of(answer)
        return chunks if answer["transfer-encoding"] == "chunked"
        return take(answer["content-length"].to_i) if answer["content-length"]

        rest
      end

      def chunks
        body = String.new(encoding: Encoding::BINARY)
        while (size = line.to_i(16)).positive?
          body << take(size)
          take(2)
        end
        line
        body
      end

      def fill
        @socket.wait_readable(LIMIT) || raise("nothing came for #{LIMIT} s, after #{@buffer.inspect[0, 200]}")
        piece = @socket.read_nonblock(65_536, exception: false)
        piece == :wait_readable ? "" : piece && (@buffer << piece)
      rescue Errno::ECONNRESET
        nil
      end
    end

    # @return [String] the bytes of a request; Host and, for a body, Content-Length are added
    def message(method, target, fields = {}, body = nil, version = "1.1")
      fields = { "Host" => "a" }.merge(fields)
      fields["Content-Length"] ||= body.bytesize if body && !fields["Transfer-Encoding"]
      head = fields.flat_map { |name, value| Array(value).map { |one| "#{name}: #{one}\r\n" } }.join
      "#{method} #{target} HTTP/#{version}\r\n#{head}\r\n#{body}".b
    end

    def get(target = "/", **fields)
      message("GET", target, fields.transform_keys { |name| name.to_s.tr("_", "-") })
    end

    # A connection and a reader of its answers, for exchanges of several steps.
    def talk(port)
      connection(port) do |socket|
        socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
        yield socket, Reader.new(socket)
      end
    end

    # Sends bytes and reads one answer.
    def ask(port, bytes, to: bytes[/\A\S+/])
      talk(port) do |socket, reader|
        send_all(socket, bytes)
        reader.answer(to: to)
      end
    end

    # Sends bytes and reads one answer, behind which the server must close.
    def ask_last(port, bytes)
      talk(port) do |socket, reader|
        send_all(socket, bytes)
        answer = reader.answer
        reader.ended?
        answer
      end
    end

    # A server that answered already may have closed.
    def send_all(socket, bytes)
      socket.write(bytes)
    rescue Errno::EPIPE, Errno::ECONNRESET
      nil
    end

    # Answers every request with what was read of it.
    def serve_echo(options = {})
      serve(options) do |request|
        body = request.body
        request.respond(200, { "content-type" => "text/plain" }, "#{request.method} #{request.target} #{body}")
      end
    end

    # How many requests, connections and operations the server still holds.
    def held
      stats = server.stats
      [stats[:in_flight], stats[:connections], Fastr::Native.stats[:operations]]
    end
  end
end

RSpec.configure do |config|
  config.include Support::Dispatching, file_path: %r{spec/(conformance|regression)/|integration/server_}
  config.include Support::Wire, file_path: %r{spec/(conformance|regression)/|integration/server_}
end
