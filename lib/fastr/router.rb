# frozen_string_literal: true

require_relative "router/drawing"

module Fastr
  # The routes of one application. It owns their order (the first match wins), the words of 2010 (`for`, `match(env)`),
  # the words of today ({Drawing}) and the table handed to Rust; what a route runs is {EndpointTable}'s work.
  #
  # @example app/config/routes.rb
  #   router.draw do |route|
  #     route.for "/users/:id", :to => "users#show", :methods => [:get], :id => "[0-9]+"
  #     route.resources :posts, only: %i[index show]
  #   end
  class Router
    include Log
    include Drawing

    # @return [Array<Route>] in the order they are tried
    attr_accessor :routes
    # @return [String, nil] the file the routes come from
    attr_accessor :route_file
    # @return [Module] the path helpers of the named routes
    attr_reader :helpers
    # @return [Integer] changes with the routes
    attr_reader :revision

    # @param app [Application]
    def initialize(app)
      @app = app
      @routes = []
      @route_file = app.app_path && "#{app.app_path}/app/config/routes.rb"
      @helpers = Module.new
      @table = nil
      @revision = 0
    end

    # @return [String] short: it is part of Ruby's own error messages
    def inspect
      "#<Fastr::Router #{@routes.size} routes>"
    end

    # Adds a route in the words of 2010: `:to`, `:methods` and one constraint for any other key.
    # @param path [String] with `:name` for a word
    # @param options [Hash]
    # @return [Route]
    # @example
    #   route.for "/:controller/:action"
    #   route.for "/users/:id", :to => "users#create", :methods => [:post]
    def for(path, options = nil)
      args = options || {}
      constraints = args.reject { |key, _| %i[to methods].include?(key) }
      methods = args[:methods] && Array(args[:methods]).map { |method| method.to_s.upcase }
      add(Route.new(path, methods: methods, constraints: constraints, fixed: classic_target(args[:to]),
                          location: Location.of_caller, classic: true, args: options))
    end

    # Evaluates a block of routes: in the words of 2010 with the router as its argument, or without an argument and
    # the router as `self`.
    # @yieldparam route [Router]
    # @return [self]
    def draw(&block)
      block.arity.zero? ? instance_exec(&block) : block.call(self)
      self
    end

    # Adds a finished route.
    # @param route [Route]
    # @return [Route]
    def add(route)
      changed
      @routes << route
      PathHelpers.define(@helpers, route) if route.name
      route
    end

    # Finds the route of a Rack env, in the words of 2010; with other arguments it is {Drawing#match}.
    # @param env [Hash]
    # @return [Hash] `{:ok => {:controller => …, :action => …, :name => value}}`, `{:error => :not_found}` or
    #   `{:error => :method_not_allowed, :allow => ["GET"]}`
    def match(*arguments, **options, &block)
      return super if block || options.any? || arguments.size != 1 || !arguments.first.is_a?(Hash)

      env = arguments.first
      found = table.match(env["REQUEST_METHOD"] || "GET", env["PATH_INFO"].to_s, env["HTTP_HOST"].to_s)
      return { error: :not_found } if found.nil?

      id, captures = found
      return { error: :method_not_allowed, allow: found } unless id.is_a?(Integer)

      route = @routes[id]
      { ok: route.names.zip(captures).to_h.compact.merge(route.fixed) }
    end

    # @return [RouteTable] the compiled table; the id of a route is its place in {#routes}
    def table
      @table ||= RouteTable.new.tap { |table| fill(table).freeze }
    end

    # Adds the routes to a table that is still open.
    # @param table [RouteTable]
    # @return [RouteTable] the same
    def fill(table)
      @routes.each_with_index { |route, id| insert(table, route, id) }
      table
    end

    # Reads {#route_file} again; without one nothing is left.
    # @return [self]
    def load
      clear
      @app.evaluate(@route_file) if @route_file && File.file?(@route_file)
      self
    end

    # Forgets every route.
    # @return [void]
    def clear
      changed
      @routes = []
      @helpers = Module.new
    end

    private

    def changed
      @table = nil
      @revision += 1
    end

    def insert(table, route, id)
      known = route.constraints.slice(*route.names).transform_keys(&:to_s)
      return table.add(route.methods, route.pattern, known, id) if route.host.nil?

      host = route.host.is_a?(Regexp) ? [Pattern.constraint(route.host), true] : [route.host.to_s, false]
      table.add_for_host(host, route.methods, route.pattern, known, id)
    rescue ArgumentError => e
      raise RouteError, "#{route.location}: #{e.message}"
    end

    def classic_target(to)
      match = %r{\A([\w/]+)#(\w+)\z}.match(to.to_s)
      match ? { controller: match[1], action: match[2] } : {}
    end
  end
end
