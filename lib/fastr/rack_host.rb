# frozen_string_literal: true

module Fastr
  # Runs any Rack application on the native path: env in, response out, in every way Rack knows - arrays, enumerables,
  # callables, files, deferrables, `async.callback`, `throw :async`. It owns that translation and the promises around
  # it: `close` is called, `rack.after_reply` and `rack.response_finished` run whatever happens.
  #
  # @example
  #   Fastr::RackHost.wrap(Sinatra::Application).call(request)
  class RackHost
    # Errors that end one request and no more.
    ERRORS = [StandardError, ScriptError, SystemStackError, NoMemoryError].freeze
    private_constant :ERRORS

    # @param app [#call] a Rack application; a {Fastr::Application} is served natively and comes back as it is
    # @return [Application, RackHost]
    def self.wrap(app)
      app = app.shared if app.is_a?(Class) && app <= Application
      app.is_a?(Application) ? app : new(app)
    end

    # @return [#call] the Rack application
    attr_reader :app

    # An application that sees `async.callback` in its env, Sinatra's `stream` for one, expects EventMachine beside it.
    # @param app [#call] a Rack application
    def initialize(app)
      require "fastr/eventmachine" unless defined?(::EventMachine)
      @app = app
    end

    # Serves one request.
    # @param request [Request]
    # @return [void]
    def call(request)
      env = prepare(request)
      response = catch(:async) { answer(request, @app.call(env)) }
      finished(env, response, nil)
      request.close_signal.succeed unless request.open?
    rescue *ERRORS => e
      failed(request, e)
      finished(env, nil, e) if env
    end

    # Ends a request whose application raised, in `call` or in a callback later.
    # @param request [Request]
    # @param error [Exception]
    # @return [void]
    def failed(request, error)
      Failure.conclude(request, error)
      request.close_signal.succeed
    end

    # Adds routes that take every request.
    # @param table [RouteTable]
    # @return [void]
    def self.fill(table)
      table.add(nil, "/", {}, 0)
      table.add(nil, "/*path", {}, 0)
    end

    # @return [RouteTable] one that takes everything
    def route_table
      RouteTable.new.tap do |table|
        RackHost.fill(table)
        table.freeze
      end
    end

    # @return [nil] a Rack application serves its own files
    def public_root
      nil
    end

    private

    def prepare(request)
      env = request.env
      env["async.close"] = request.close_signal
      env["rack.after_reply"] = []
      env["rack.response_finished"] = []
      env
    end

    def answer(request, response)
      status, headers, body = *Response.triple(response)
      deliver(request, status, headers, body)
      response
    end

    def deliver(request, status, headers, body)
      Response.deliver(request, status, headers, body)
    rescue TypeError, ArgumentError
      raise if request.answered?

      Response.deliver(request, status, printable(headers), body)
    end

    # Rack 2 writes several values as lines; numbers and nil among headers are common enough. What still cannot be
    # sent raises, for good.
    def printable(headers)
      headers.each_with_object({}) do |(name, value), clean|
        next if value.nil?

        values = Array(value).flat_map { |item| item.to_s.split("\n") }
        clean[name.to_s] = values.size == 1 ? values.first : values
      end
    end

    def finished(env, response, error)
      replies = env["rack.after_reply"]
      replies&.each { |block| guard { block.call } } unless replies.nil? || replies.empty?
      listeners = env["rack.response_finished"]
      return if listeners.nil? || listeners.empty?

      status, headers = response.is_a?(Array) ? response : nil
      listeners.reverse_each { |block| guard { block.call(env, status, headers, error) } }
    end

    def guard
      yield
    rescue *ERRORS => e
      ErrorLog.write(e)
    end
  end

  # The last word to a request whose application failed: logged once, 500 before headers, a visible cut after them. A
  # client that has left is no failure.
  module Failure
    module_function

    # @param request [Request]
    # @param error [Exception]
    # @return [void]
    def conclude(request, error)
      return Application.logger.debug { "request=#{request.id} the client has left" } if error.is_a?(DisconnectedError)

      ErrorLog.write(error, request)
      answer(request, error)
    end

    def answer(request, error)
      return request.abort if request.answered?

      Response.deliver(request, *ErrorResponse.for(error, request))
    rescue AlreadySentError, DisconnectedError
      nil
    end

    private_class_method :answer
  end
  private_constant :Failure
end
