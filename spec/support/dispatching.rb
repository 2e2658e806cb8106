# frozen_string_literal: true

module Support
  # Running code on the dispatcher and serving requests with it, inside the process of the specs.
  module Dispatching
    TEXT = { "content-type" => "text/plain; charset=utf-8" }.freeze

    # Answers each request by calling the block with it; what the block raises is kept and answered with 500.
    class Handler
      attr_reader :failures

      def initialize(&block)
        @block = block
        @failures = []
      end

      def call(request)
        @block.call(request)
      end

      def failed(request, error)
        @failures << error
        request.answered? ? request.abort : request.respond(500, TEXT, "500")
      end
    end

    # Whoever serves between two examples: a fiber that the last one left parked may still fail, and an error that
    # nobody takes ends the dispatcher.
    module Nobody
      def self.call(request) = request.respond(503, {}, "")
      def self.failed(_request, _error) = nil
    end

    # Runs the block in a fiber of the dispatcher and gives its value, or raises its error.
    def on_dispatcher(&block)
      Fastr::Dispatcher.instance.ensure_running
      results = Thread::Queue.new
      Fastr::Dispatcher.next_tick do
        results << [:value, block.call]
      rescue StandardError, ScriptError => e
        results << [:error, e]
      end
      kind, value = results.pop
      kind == :error ? raise(value) : value
    end

    # Serves every path with the block, or those of the routes; returns the port. Stopped after the example.
    def serve(options = {}, routes = every_path, &block)
      @handler = Handler.new(&block)
      dispatcher = Fastr::Dispatcher.instance
      dispatcher.ensure_running
      dispatcher.handler = @handler
      @server = Fastr::Server.listen({ "port" => 0 }.merge(options), routes)
      @server.port
    end

    # @return [Fastr::RouteTable]
    def every_path
      routes = Fastr::RouteTable.new
      routes.add(nil, "/", {}, 1)
      routes.add(nil, "/*path", {}, 1)
      routes
    end

    attr_reader :handler, :server

    def stop_serving
      return unless @server

      begin
        Fastr::Completion.await { |sink| @server.stop(sink, 0.2) }
      rescue Fastr::TimeoutError
        nil # an example left a request open on purpose
      end
      Fastr::Dispatcher.instance.handler = Nobody
    end

    def self.included(base)
      base.after { stop_serving }
    end
  end
end
