# frozen_string_literal: true

module Fastr
  # Sends one Rack body that is not a plain Array: enumerable, callable (Rack 3 streaming) or deferrable (2010). It owns
  # the order start - write - finish, back-pressure, and that `close` is called whatever happens.
  class BodyWriter
    # A body of a known length up to this many bytes is collected and sent in one piece.
    COLLECT = 256 * 1024

    # @param request [Request]
    # @param status [Integer]
    # @param headers [Hash]
    # @param body [#each, #call]
    def initialize(request, status, headers, body)
      @request = request
      @status = status
      @headers = headers
      @body = body
    end

    # Sends everything; waits for a slow client.
    # @return [void]
    def run
      return attach if deferrable?

      begin
        send_file || send_whole || send_chunks
      ensure
        @body.close if @body.respond_to?(:close)
      end
    end

    private

    def deferrable?
      @body.respond_to?(:callback) && @body.respond_to?(:errback)
    end

    # Open until `succeed` or `fail`; `each` hands over the block that sends.
    def attach
      @request.start(@status, @headers)
      @body.each { |chunk| @request.write(chunk) }
      @body.callback { finish_deferred { @request.finish } }
      @body.errback { finish_deferred { @request.abort } }
      Dispatcher.on_closed(@request) { @body.fail }
    end

    def finish_deferred
      yield if @request.open?
    rescue DisconnectedError
      nil
    ensure
      @body.close if @body.respond_to?(:close)
      @request.close_signal.succeed
    end

    # What names a file that has the same content is sent from there: the server reads it, and Ruby does not.
    def send_file
      return false unless @body.respond_to?(:to_path)

      path = @body.to_path
      path.is_a?(String) && @request.send_file(@status, @headers, path)
    end

    def send_whole
      if @body.respond_to?(:to_ary)
        @request.respond(@status, @headers, Response.join(@body.to_ary))
      elsif @body.respond_to?(:each) && small?
        @request.respond(@status, @headers, collect)
      else
        return false
      end
      true
    end

    # A block that streams is never collected: its pieces are meant to leave one by one.
    def small?
      return false if @body.is_a?(StreamBody)

      @length = @headers["Content-Length"] || @headers["content-length"]
      @length && @length.to_i <= COLLECT
    end

    def collect
      chunks = []
      @body.each { |chunk| chunks << chunk }
      check_length(Response.join(chunks))
    end

    # Half a body must not look like a whole one. Answers without a body may name the length of another.
    def check_length(bytes)
      return bytes if bytes.bytesize == @length.to_i || @request.method == "HEAD" || [204, 304].include?(@status)

      raise ResponseError, "the body has #{bytes.bytesize} bytes, its Content-Length is #{@length}; " \
                           "correct the header or leave it out"
    end

    def send_chunks
      @request.start(@status, @headers)
      output = Stream.new(@request)
      if @body.is_a?(StreamBody) || !@body.respond_to?(:each)
        @body.call(output)
      else
        @body.each { |chunk| output.write(chunk) }
      end
      @request.finish
    end
  end
  private_constant :BodyWriter
end
