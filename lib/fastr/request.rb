# frozen_string_literal: true

module Fastr
  # One request on the native path. Rust defines this class and reads everything from its own buffers; this file adds
  # what waits (the body) and what Rack programs expect of its env. It owns no parsing.
  class Request
    # @return [String] the whole body, binary; waits for it, read once
    # @raise [RequestError] 413 when it is larger than the server's limit
    def body
      @body ||= Completion.await { |sink| body_all(sink) }
    end

    # @return [Array<Array>] the parts of a multipart body: name, file name, content type, content, path
    def parts
      @parts ||= Completion.await { |sink| multipart(sink) }
    end

    # @return [Hash] the Rack env, made when first asked for, with `async.callback` for programs that answer later
    def rack_env
      @rack_env ||= env.tap { |env| env["async.callback"] ||= AsyncCallback.new(self) }
    end

    # @return [nil] a native request answers through itself, see {#respond}
    def async_callback
      nil
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
      nil
    end

    # @return [Proc]
    def to_proc
      method(:call).to_proc
    end
  end
  private_constant :AsyncCallback
end
