# frozen_string_literal: true

module Fastr
  # The serving half of {Application}: a native request or a Rack env in, an answer out. It owns the order of things
  # (plugins, public files, routes, controller, plugins), the request log and the outermost rescue.
  module Serving
    # The folder of static files.
    PUBLIC_FOLDER = "public"
    # What ends one request and no more. `exit` and signals are not among it.
    ERRORS = [StandardError, ScriptError, SystemStackError, NoMemoryError].freeze
    private_constant :ERRORS

    # Serves one request: a native one by answering through it, an env by returning the Rack response.
    # @param request [Request, Hash]
    # @return [Array, nil]
    def call(request)
      return dispatch(request) if request.is_a?(Hash)
      return serve_carefully(request) if @careful

      @endpoints[request.route].serve(request)
      nil
    rescue *ERRORS => error
      failed(request, error)
    end

    # Serves a Rack env, as in 2010: plugins, public files, router, controller, plugins.
    # @param env [Hash]
    # @return [Array] the Rack response
    def dispatch(env)
      return [500, { "Content-Type" => "text/plain" }, ["Server Not Ready"]] if @booting

      @reloader&.check
      started = now if settings.log_requests
      env = plugin_before_dispatch(env)
      response = plugin_after_dispatch(env, do_dispatch(env))
      log_request(RackRequest.new(env), response[0], started) if started
      response
    rescue *ERRORS => error
      failed_on_rack(env, error)
    end

    # Serves a Rack env without the plugins.
    # @param env [Hash]
    # @return [Array] the Rack response
    def do_dispatch(env)
      static_files.call(env) || route_request(RackRequest.new(env))
    rescue *ERRORS => error
      raise if error.is_a?(UncaughtThrowError)

      failed_on_rack(env, error)
    end

    # The route table for the server: the application's own where Rust can decide, one route for everything where
    # Ruby has to see each request (plugins that dispatch, reloading, a `not_found` of its own).
    # @return [RouteTable]
    def route_table
      prepare_endpoints
      @careful = careful?
      RouteTable.new.tap do |table|
        @careful ? add_health(table) : router.fill(table)
        @careful ? RackHost.fill(table) : add_health(table)
        table.freeze
      end
    end

    # @return [String, nil] the folder the server may serve files from before routes; nil where plugins see them first
    def public_root
      folder = "#{folder_of_files}/#{PUBLIC_FOLDER}"
      folder if File.directory?(folder) && !dispatching_plugins?
    end

    # Ends a request whose callback raised: logged once, 500 before headers, a visible cut after them.
    # @param request [Request]
    # @param error [Exception]
    # @return [nil]
    def failed(request, error)
      return if error.is_a?(UncaughtThrowError) && error.tag == :async

      Failure.conclude(request, error)
      nil
    end

    # @return [Array, nil] what the application's own `not_found` answers
    # @api private
    def answer_not_found(request)
      return unless @not_found

      status, headers, body = *@not_found.call(request, Params::NO_CAPTURES)
      [status == 200 ? 404 : status, headers, body]
    end

    private

    # Makes what each route runs, if the routes have changed.
    def prepare_endpoints
      return if @endpoints && @revision == router.revision

      table = EndpointTable.new(self)
      @endpoints = table.build(strict: !Fastr.development?)
      @revision = router.revision
    end

    # The health check is answered without Ruby, so it says what it is asked: whether the server takes requests.
    def add_health(table)
      path = settings.health_path
      return if path.nil? || router.table.match("GET", path)

      table.add_constant(%w[GET], path, 200, { "content-type" => "text/plain", "cache-control" => "no-store" }, "ok")
    end

    def careful?
      !@reloader.nil? || settings.log_requests || dispatching_plugins? || !@boot_error.nil? || !@not_found.nil?
    end

    def dispatching_plugins?
      plugins.any? { |plugin| plugin.respond_to?(:before_dispatch) || plugin.respond_to?(:after_dispatch) }
    end

    def serve_carefully(request)
      return (@rack_host ||= RackHost.new(method(:dispatch))).call(request) if dispatching_plugins?

      @reloader&.check
      started = now
      response = route_or_explain(request)
      log_request(request, response[0], started) if settings.log_requests
      Response.deliver(request, *response)
      nil
    end

    # @return [Array] the Rack response, also for an error
    def route_or_explain(request)
      route_request(request)
    rescue DisconnectedError, UncaughtThrowError
      raise
    rescue *ERRORS => error
      raise if request.answered?

      ErrorLog.write(error, request)
      ErrorResponse.for(error, request)
    end

    # @return [Array] the Rack response
    def route_request(request)
      raise @boot_error if @boot_error

      prepare_endpoints
      found = router.table.match(request.method, request.path, request.host.to_s)
      return ErrorResponse.not_found(request, self) if found.nil?

      id, captures = found
      return ErrorResponse.method_not_allowed(request, found) unless id.is_a?(Integer)

      @endpoints[id].call(request, captures)
    end

    def plugin_before_dispatch(env)
      plugins.each do |plugin|
        env = plugin.before_dispatch(self, env) || env if plugin.respond_to?(:before_dispatch)
      end
      env
    end

    def plugin_after_dispatch(env, response)
      plugins.each do |plugin|
        next unless plugin.respond_to?(:after_dispatch)

        status, headers, body = *response
        response = [status, headers.dup, body] if headers.frozen?
        response = plugin.after_dispatch(self, env, response) || response
      end
      response
    end

    def failed_on_rack(env, error)
      request = RackRequest.new(env)
      ErrorLog.write(error, request)
      ErrorResponse.for(error, request)
    end

    def static_files
      @static_files ||= StaticFiles.new("#{folder_of_files}/#{PUBLIC_FOLDER}")
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def log_request(request, status, started)
      return unless log.level <= Logger::INFO

      status = "later" if status == -1
      log.info(format("%<method>s %<path>s %<status>s %<time>.1fms request=%<id>s", method: request.method,
                                                                                    path: request.path, status: status,
                                                                                    time: (now - started) * 1000,
                                                                                    id: request.id || "-"))
    end
  end
  private_constant :Serving
end
