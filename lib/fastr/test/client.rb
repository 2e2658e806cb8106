# frozen_string_literal: true

require "cgi/escape"
require "json"
require "stringio"
require "timeout"

module Fastr
  module Test
    # Sends requests to an application inside the process and waits for the answer, however it is given: at once, later,
    # in pieces. It owns making the env and collecting the body, and keeps cookies between requests.
    #
    # @example
    #   client = Fastr::Test::Client.new(Fastr.app { get("/") { "hello" } })
    #   client.get("/").body   # => "hello"
    class Client
      # Seconds to wait for an answer that comes later.
      LIMIT = 10

      # @return [Hash{String => String}] cookies the application has set
      attr_reader :cookies

      # @param app [#call] a Rack application
      def initialize(app)
        @app = app
        @cookies = {}
      end

      # @!macro [new] request
      #   @param path [String] with or without a query
      #   @param params [Hash] the query, or the form of a request with a body
      #   @param json [Object] the body, as JSON
      #   @param body [String] the body as it is
      #   @param headers [Hash{String => String}]
      #   @return [Response]

      # @macro request
      def get(path, **options) = request("GET", path, **options)

      # @macro request
      def head(path, **options) = request("HEAD", path, **options)

      # @macro request
      def post(path, **options) = request("POST", path, **options)

      # @macro request
      def put(path, **options) = request("PUT", path, **options)

      # @macro request
      def patch(path, **options) = request("PATCH", path, **options)

      # @macro request
      def delete(path, **options) = request("DELETE", path, **options)

      # @param method [String] upper case
      # @macro request
      def request(method, path, headers: {}, **content)
        Dispatcher.instance.ensure_running
        env = add_headers(env_for(method, path, content), headers)
        later = Thread::Queue.new
        env["async.callback"] = ->(triple) { later << triple }
        answer = catch(:async) { @app.call(env) }
        answer = wait(later) if answer.nil? || answer[0] == -1
        keep_cookies(Response.new(answer[0], answer[1], collect(answer[2])))
      end

      private

      def wait(later)
        Timeout.timeout(LIMIT, Fastr::TimeoutError, "no answer within #{LIMIT} s") { later.pop }
      end

      def env_for(method, path, content)
        path, query = path.split("?", 2)
        if content[:params] && %w[GET HEAD].include?(method)
          query = [query, encode(content[:params])].compact.join("&")
          content = content.except(:params)
        end
        type, text = body_for(**content)
        { "REQUEST_METHOD" => method, "PATH_INFO" => path, "QUERY_STRING" => query.to_s, "SCRIPT_NAME" => "",
          "SERVER_NAME" => "test.local", "SERVER_PORT" => "80", "HTTP_HOST" => "test.local",
          "rack.url_scheme" => "http", "rack.version" => [1, 6], "rack.errors" => $stderr, "CONTENT_TYPE" => type,
          "rack.input" => StringIO.new(text.b), "CONTENT_LENGTH" => text.bytesize.to_s }.compact
      end

      def body_for(params: nil, json: nil, body: nil)
        return ["application/json", JSON.generate(json)] unless json.nil?
        return ["application/x-www-form-urlencoded", encode(params)] if params

        [nil, body.to_s]
      end

      def add_headers(env, headers)
        if @cookies.any?
          headers = { "Cookie" => @cookies.map do |name, value|
                                    "#{name}=#{value}"
                                  end.join("; ") }.merge(headers)
        end
        headers.each do |name, value|
          key = name.tr("-", "_").upcase
          env[key == "CONTENT_TYPE" ? key : "HTTP_#{key}"] = value
        end
        env
      end

      def encode(params)
        params.flat_map { |key, value| pairs(key.to_s, value) }.join("&")
      end

      def pairs(key, value)
        case value
        when Hash then value.flat_map { |name, item| pairs("#{key}[#{name}]", item) }
        when Array then value.flat_map { |item| pairs("#{key}[]", item) }
        else ["#{CGI.escape(key)}=#{CGI.escape(value.to_s)}"]
        end
      end

      # A deferrable body is complete when it has succeeded or failed.
      def collect(body)
        chunks = []
        done = Thread::Queue.new
        body.respond_to?(:each) ? body.each { |chunk| chunks << chunk } : body.call(chunks)
        if body.respond_to?(:callback) && body.respond_to?(:errback)
          body.callback { done << true }
          body.errback { done << false }
          wait(done)
        end
        chunks.join
      ensure
        body.close if body.respond_to?(:close)
      end

      def keep_cookies(response)
        response.set_cookies.each do |line|
          name, value = line.split(";", 2).first.split("=", 2)
          value.to_s.empty? ? @cookies.delete(name) : @cookies[name] = value
        end
        response
      end
    end
  end
end
