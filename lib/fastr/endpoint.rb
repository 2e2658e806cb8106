# frozen_string_literal: true

# The ways a request is served, made ready at boot: an action, a wildcard, a Rack application, a mistake.
module Fastr
  # What a route runs, made ready at boot. Every kind answers `serve(request, captures)` on the native path and
  # `call(request, captures)` with a Rack response; both make a fresh controller and run its generated method.
  # It owns that short way; the kind a route needs is {EndpointTable}'s decision.
  class Endpoint
    # @return [Application]
    attr_reader :app
    # @return [String] the action's name
    attr_reader :action
    # @return [Hash{Symbol => Integer}] names and their places in the captures
    attr_reader :names
    # @return [Hash{Symbol => String}] what the route fixes
    attr_reader :fixed

    # @param app [Application]
    # @param controller_class [Class]
    # @param action [String, Symbol]
    # @param names [Array<Symbol>]
    # @param fixed [Hash{Symbol => String}]
    # @param call [String] the Ruby text that calls the action
    def initialize(app, controller_class, action, names: [], fixed: {}, call: action.to_s)
      @app = app
      @controller_class = controller_class
      @action = action.to_s
      @names = names.each_with_index.to_h.freeze
      @fixed = fixed.dup.freeze
      @runner = controller_class.compile_action(action.to_sym, call)
    end

    # Answers on the native path.
    # @param captures [Array<String>, nil] nil asks the request when one is needed
    # @return [void]
    def serve(request, captures = nil)
      controller = @controller_class.new
      controller.fastr_serve(request, self, captures, @runner)
    rescue StandardError => e
      raise if request.answered?

      Response.deliver(request, *recover(controller, e))
    end

    # @return [Array] the Rack response
    def call(request, captures)
      controller = @controller_class.new
      controller.fastr_call(request, self, captures, @runner)
    rescue StandardError => e
      recover(controller, e)
    end

    private

    # `rescue_from` of the controller answers, if it knows the error.
    def recover(controller, error)
      handler = @controller_class.handler_for(error) unless error.is_a?(UncaughtThrowError)
      raise error if handler.nil? || controller.nil?

      takes_none = controller.method(handler).arity.zero?
      value = takes_none ? controller.__send__(handler) : controller.__send__(handler, error)
      controller.fastr_finish(value)
    end
  end

  # The endpoint of `/:controller/:action`: the client names both. Only controllers and actions that exist are
  # looked up, so a client can neither load nor name anything else.
  class WildcardEndpoint
    # @param table [EndpointTable]
    # @param route [Route]
    def initialize(table, route)
      @table = table
      @route = route
      @known = Hash.new { |controllers, controller| controllers[controller] = {} }
      @controller_at = route.names.index(:controller)
      @action_at = route.names.index(:action)
    end

    # @see Endpoint#serve
    def serve(request, captures = request.captures)
      endpoint = find(captures)
      return endpoint.serve(request, captures) if endpoint

      Response.deliver(request, *ErrorResponse.not_found(request, @table.app))
    end

    # @see Endpoint#call
    def call(request, captures)
      endpoint = find(captures)
      endpoint ? endpoint.call(request, captures) : ErrorResponse.not_found(request, @table.app)
    end

    private

    def find(captures)
      controller = @controller_at ? captures[@controller_at] : @route.controller
      action = @action_at ? captures[@action_at] : @route.action
      unless controller && action
        raise RouteError,
              "#{@route.location}: controller and action are not both in the route"
      end

      known = @known.fetch(controller, nil)&.fetch(action, nil)
      known || @table.action(controller, action, @route)&.tap { |endpoint| @known[controller][action] = endpoint }
    end
  end

  # The endpoint of a mounted Rack application.
  class RackEndpoint
    # @param app [#call] a Rack application
    def initialize(app)
      @app = app
      @host = RackHost.new(app)
    end

    # @see Endpoint#serve
    def serve(request, _captures = nil)
      @host.call(request)
    end

    # @see Endpoint#call
    def call(request, _captures)
      Response.triple(@app.call(request.env))
    end
  end

  # The endpoint of a route that leads nowhere: the rest of the application works, this path shows the mistake.
  class BrokenEndpoint
    # @param error [RouteError]
    def initialize(error)
      @error = error
    end

    # Raises the mistake.
    def serve(_request, _captures = nil)
      raise @error
    end
    alias call serve
  end
  private_constant :Endpoint, :WildcardEndpoint, :RackEndpoint, :BrokenEndpoint
end
