# frozen_string_literal: true

module Fastr
  # The endpoints of one application by route id, and its controllers by name. It owns the step from what a route says
  # ("users#show") to what runs, with the mistakes found on that way: file, line and the nearest known name.
  class EndpointTable
    # @return [Application]
    attr_reader :app

    # @param app [Application]
    def initialize(app)
      @app = app
      @controllers = {}
      @generation = nil
      @block_controller = app.block_controller
    end

    # @param strict [Boolean] whether a mistake raises; otherwise it is logged and that route alone shows it
    # @return [Array<Endpoint>] by route id
    def build(strict:)
      app.router.routes.each_with_index.map do |route, id|
        endpoint(route, id)
      rescue RouteError => e
        raise if strict && !route.classic?

        app.log.error(e.message)
        BrokenEndpoint.new(e)
      end
    end

    # @param controller [String] as in a path
    # @param action [String] as in a path
    # @return [Endpoint, nil] nil when either does not exist
    def action(controller, action, route)
      klass = controller(controller)
      return unless klass&.action?(action)

      Endpoint.new(app, klass, action, names: route.names, fixed: route.fixed)
    end

    # @return [Hash{String => Class}] the controllers there are, by the name routes use
    def controllers
      return @controllers if @generation == Actions.generation

      @generation = Actions.generation
      @controllers = collect(Controller, {})
    end

    private

    def controller(name)
      klass = controllers[name]
      klass.include(app.router.helpers) if klass && !klass.include?(app.router.helpers)
      klass
    end

    def collect(parent, found)
      parent.subclasses.each do |klass|
        collect(klass, found)
        found[klass.path] = klass if current?(klass)
      end
      found
    end

    # A class that was reloaded is still in memory under its old name.
    def current?(klass)
      klass.name && Object.const_defined?(klass.name) && Object.const_get(klass.name).equal?(klass)
    rescue NameError
      false
    end

    def endpoint(route, id)
      if route.rack then RackEndpoint.new(route.rack)
      elsif route.block then block_endpoint(route, id)
      elsif route.wildcard? then WildcardEndpoint.new(self, route)
      else
        fixed_endpoint(route)
      end
    end

    def fixed_endpoint(route)
      raise RouteError, "#{route.location}: #{route.pattern} leads nowhere" unless route.controller && route.action

      action(route.controller, route.action, route) || raise(RouteError, explain(route))
    end

    def explain(route)
      klass = controller(route.controller)
      wanted = "#{route.location}: #{route.pattern} leads to #{route.target}, but "
      if klass.nil?
        "#{wanted}there is no #{Inflector.camelize(route.controller)}Controller." \
          "#{Suggestion.for(route.controller, controllers.keys)}"
      else
        "#{wanted}#{klass} has no action #{route.action} (a public method of its own)." \
          "#{Suggestion.for(route.action, klass.actions)}"
      end
    end

    # The block becomes a method of the application's own controller class: `return` works in it.
    def block_endpoint(route, id)
      method = :"route_#{id}"
      @block_controller.define_method(method, &route.block)
      @block_controller.include(app.router.helpers)
      arity = route.block.arity
      count = arity.negative? ? route.names.size : [arity, route.names.size].min
      arguments = Array.new(count) { |index| "fastr_capture(#{index})" }.join(", ")
      Endpoint.new(app, @block_controller, method, names: route.names, fixed: route.fixed,
                                                   call: "#{method}(#{arguments})")
    end
  end
  private_constant :EndpointTable
end
