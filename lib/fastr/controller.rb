# frozen_string_literal: true

module Fastr
  # The class of all controllers. It owns what an action can reach (params, headers, cookies, env, app, log) and how
  # its value becomes a response. A fresh instance serves one request and is never used again.
  #
  # Only public methods that the application's own classes define are actions. Names with `fastr_` in front are the
  # framework's; the namespace is shared with the application's methods, so they carry its name.
  #
  # @example
  #   class UsersController < Fastr::Controller
  #     before_filter :require_login, :only => [:show]
  #     def show
  #       render json: User.find(params[:id])
  #     end
  #   end
  class Controller
    include Filter
    include Cookie
    include Async
    include Rendering
    extend Actions

    # What the words of 2010 occupy: an application's method of such a name is no action.
    OWN_WORDS = %i[env params app headers cookies get_params post_params log render set_cookie defer_response
                   render_async async_resp filter_stop filter_continue request].freeze

    class << self
      # Sets or reads the layout around this class's templates.
      # @param name [String, false, nil] a path below app/views/layouts; false for none
      # @return [String, false, nil]
      def layout(name = nil)
        @layout = name unless name.nil?
        return @layout if defined?(@layout)

        superclass.layout if superclass.respond_to?(:layout)
      end

      # Gives each controller a logger of its own.
      # @api private
      def inherited(subclass)
        super
        subclass.include(Log)
        Actions.bump
      end
    end

    attr_writer :params, :headers, :cookies, :get_params, :post_params

    # @return [Request, RackRequest] the request
    def request
      @fastr_request
    end

    # @return [Application] the application of the request
    def app
      @fastr_endpoint&.app
    end

    # @return [Params] query, form, JSON, uploads and what the route captured
    def params
      @params ||= Params.new(@fastr_endpoint, @fastr_captures, @fastr_request)
    end

    # @return [Hash] headers of the response, with the type of what was rendered already
    def headers
      @headers ||= @fastr_rendered ? @fastr_rendered[1].dup : {}
    end

    # @return [Hash] the Rack env, made when first asked for
    def env
      @fastr_request.env
    end

    # @return [Cookies] what the client sent; {Cookies#set} sets
    def cookies
      @cookies ||= begin
        line = @fastr_request.header("cookie")
        Cookies.new(line ? Native.parse_cookies(line) : {}, self, secure: @fastr_request.scheme == "https")
      end
    end

    # @return [Hash{String => String, Array<String>}, nil] the query as it was sent; nil unless the method is GET
    def get_params # rubocop:disable Naming/AccessorMethodName -- the name of 2010
      return unless request.method == "GET"

      @get_params ||= NestedParams.flat(Native.parse_query(request.query_string.to_s))
    end

    # @return [Hash{String => Object}, nil] the form as it was sent; nil unless the method is POST
    def post_params
      return unless request.method == "POST"

      @post_params ||= Body.flat_params(request)
    end

    # @return [Object] the JSON document of the body, whatever its content type says
    # @raise [RequestError] 400 when it cannot be read
    def json_body
      Body.json(request)
    end

    # @return [String, nil] one captured value, for a route's block
    # @api private
    def fastr_capture(index)
      value = @fastr_captures ? @fastr_captures[index] : @fastr_request.capture(index)
      value unless value.nil? || value.empty?
    end

    # Runs the generated method and answers on the native path. The two usual cases come first: what was rendered last
    # is what was returned, or a String without any header set.
    # @api private
    def fastr_serve(request, endpoint, captures, runner)
      @fastr_request = request
      @fastr_endpoint = endpoint
      @fastr_captures = captures if captures
      @fastr_acting = true
      result = __send__(runner)
      if result.equal?(@fastr_rendered) && result
        fastr_send_rendered(result)
      elsif result.instance_of?(String) && !@headers && !@fastr_rendered
        @fastr_request.respond(200, Response::TEXT, result)
      else
        fastr_deliver(*fastr_finish(result))
      end
    ensure
      @fastr_acting = false
      fastr_postpone if @fastr_deferred
    end

    # Runs the generated method and gives the Rack response, whose headers others may add to.
    # @api private
    def fastr_call(request, endpoint, captures, runner)
      @fastr_request = request
      @fastr_endpoint = endpoint
      @fastr_captures = captures if captures
      status, headers, body = *fastr_finish(__send__(runner))
      [status, headers.frozen? ? headers.dup : headers, body]
    end

    # @return [Array] the Rack response an action's value stands for, with `self.headers` in it
    # @api private
    def fastr_finish(result)
      triple = fastr_triple(result)
      return triple if @headers.nil? || triple[1].equal?(@headers) || triple[0] == -1

      [triple[0], triple[1].merge(@headers), triple[2]]
    end

    # @return [String] short: it is part of Ruby's own error messages
    def inspect
      "#<#{self.class}#{" #{@fastr_endpoint.action}" if @fastr_endpoint}>"
    end

    # @return [String] where this controller's templates are, below app/views
    # @api private
    def fastr_view_folder
      self.class.path
    end

    # @return [Binding] for template engines of the application's own
    # @api private
    def fastr_binding
      binding
    end

    private

    # A deferred answer begins here, without a turn of the loop (3 µs) between the action and its block.
    def fastr_deliver(status, headers, body)
      return Response.deliver(@fastr_request, status, headers, body) unless status == -1 && @fastr_deferred

      response = @fastr_deferred
      @fastr_deferred = nil
      @fastr_acting = false
      response.begin
    end

    # The action raised, or returned something else than `defer_response` did: that is answered first.
    def fastr_postpone
      response = @fastr_deferred
      @fastr_deferred = nil
      Dispatcher.next_tick { response.begin }
    end

    def fastr_send_rendered(triple)
      status, headers, body = triple
      headers = headers.merge(@headers) if @headers && !headers.equal?(@headers)
      return @fastr_request.respond(status, headers, body[0]) if body.instance_of?(Array) && body.size == 1

      Response.deliver(@fastr_request, status, headers, body)
    end

    # What was rendered wins over a value that is no response of its own.
    def fastr_triple(value, strict: true)
      return value if Response.triple?(value)
      return @fastr_rendered if @fastr_rendered
      return [204, {}, []] if value.nil?

      Response.coerce(value) || (strict ? fastr_refuse(value) : nil)
    end

    # The message begins with the action's place: no frame of the backtrace is the user's.
    def fastr_refuse(value)
      action = @fastr_endpoint&.action
      file, line = method(action).source_location if action && respond_to?(action, true)
      raise ResponseError, "#{"#{Location.shorten(file)}:#{line}: " if file}#{self.class}##{action} returned " \
                           "#{value.class}; an action returns a String (text), a Hash or Array (JSON), a Rack " \
                           "response, or calls render"
    end

    def fastr_own_headers(headers)
      @headers ? headers.merge(@headers) : headers
    end
  end
end
