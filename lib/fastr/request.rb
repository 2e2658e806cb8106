# frozen_string_literal: true

module Fastr
  # One request on the native path. Rust defines this class and reads everything from its own buffers; this file adds
  # what waits (the body) and what Rack programs expect of its env. It owns no parsing.
  class Request
    # What every Rack env of this server holds; Rust copies it and puts the request's own in the place of each nil. A
    # copy has room for as many keys as its original has, and half as many again.
    ENV_TEMPLATE = {
      "REQUEST_METHOD" => nil, "SCRIPT_NAME" => nil, "PATH_INFO" => nil, "REQUEST_PATH" => nil, "QUERY_STRING" => nil,
      "REQUEST_URI" => nil, "SERVER_PROTOCOL" => nil, "HTTP_VERSION" => nil, "REMOTE_ADDR" => nil,
      "SERVER_NAME" => nil, "SERVER_PORT" => nil, "SERVER_SOFTWARE" => "fastr/#{VERSION}",
      "rack.version" => [1, 6].freeze, "rack.url_scheme" => "http", "rack.multithread" => false,
      "rack.multiprocess" => false, "rack.run_once" => false, "rack.hijack?" => false, "rack.errors" => $stderr,
      "rack.input" => nil, "async.callback" => nil, "fastr.request" => nil
    }.freeze
    private_constant :ENV_TEMPLATE

    # @return [String] "http"
    def scheme
      "http"
    end

    # @return [String] short: it is part of Ruby's own error messages
    def inspect
      "#<Fastr::Request #{id} #{method} #{path}>"
    end

    # @return [String] the whole body, binary; waits for it, read once
    # @raise [RequestError] 413 when it is larger than the server's limit
    def body
      @body ||= body_buffered || Completion.await { |sink| body_all(sink, nil) }
    end

    # @return [Array<Array>] the parts of a multipart body: name, file name, content type, content, path
    def parts
      @parts ||= Completion.await { |sink| multipart(sink) }
    end

    # @return [Hash] the Rack env, made when first asked for
    def env
      @env || make_env
    end

    # @return [CloseSignal] what `env["async.close"]` holds
    # @api private
    def close_signal
      @close_signal ||= CloseSignal.new(self)
    end

    # Operations to be told with `client_left` when the client leaves. Queries take themselves out when they are done.
    # @return [Hash{#client_left => true}]
    # @api private
    def in_flight
      return @in_flight if @in_flight

      @in_flight = Operations.new
      Dispatcher.instance.on_closed(self, @in_flight)
      @in_flight
    end

    # Operations in flight: told by themselves, so that a request needs no block for it.
    class Operations < Hash
      # The client has left.
      # @return [void]
      def call
        keys.each(&:client_left)
      end
    end
    private_constant :Operations

    # @return [nil] a native request answers through itself, see {#respond}
    def async_callback
      nil
    end

    private

    def make_env
      env = build_env(ENV_TEMPLATE)
      env["SCRIPT_NAME"] = +""
      env["rack.input"] = RackInput.new(self)
      env["async.callback"] = AsyncCallback.new(self)
      env["fastr.request"] = self
      @env = env
    end
  end

  # What `env["async.callback"]` holds: it answers one request with a Rack response, some time later. It owns
  # nothing but that request; a second call raises {AlreadySentError}.
  class AsyncCallback
    # @param request [Request]
    def initialize(request)
      @request = request
    end

    # @param response [Array, #to_a, #finish] a Rack response
    # @return [void]
    def call(response)
      status, headers, body = *Response.triple(response)
      Response.deliver(@request, status, headers, body)
      @request.close_signal.succeed unless @request.open?
      nil
    end

    # @return [Proc]
    def to_proc
      method(:call).to_proc
    end
  end
  private_constant :AsyncCallback

  # What `env["async.close"]` holds: its blocks run when the client has left or the answer is complete, once; one added
  # after that runs at once. Nothing is watched before somebody asks.
  class CloseSignal
    # @param request [Request]
    def initialize(request)
      @request = request
      @blocks = nil
      @over = false
    end

    # @yield when the request is over
    # @return [self]
    def callback(&block)
      if @over
        block.call
      else
        Dispatcher.on_closed(@request) { succeed } if @blocks.nil?
        (@blocks ||= []) << block
      end
      self
    end
    alias errback callback

    # The request is over.
    # @return [void]
    def succeed
      return if @over

      @over = true
      blocks = @blocks
      @blocks = nil
      blocks&.each(&:call)
    end
    alias fail succeed
  end
  private_constant :CloseSignal
end
