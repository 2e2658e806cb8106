# frozen_string_literal: true

require_relative "resources"

module Fastr
  class Router
    # The words of today for {Router#draw}, the single-file application and `class App < Fastr::Application`:
    # verbs, resources, namespaces, constraints, names, mounts, redirects. It owns the translation of those words into
    # {Route}s and the nesting of scopes; it matches nothing.
    module Drawing
      include Resources

      # What the blocks around a route add to it.
      Scope = Struct.new(:path, :folder, :name_prefix, :name_suffix, :controller, :host, :constraints, :defaults) do
        # @return [Scope] the scope outside of every block
        def self.root
          new("", nil, nil, nil, nil, nil, {}, {})
        end

        # @return [Scope] this scope with some fields replaced
        def with(**changes)
          Scope.new(*to_h.merge(changes).values)
        end

        # @return [String] a route's name inside this scope
        def name(word)
          parts = name_suffix ? [word, name_prefix, name_suffix] : [name_prefix, word]
          parts.compact.join("_")
        end
      end
      private_constant :Scope

      # Options of a route that are no constraints.
      OPTIONS = %i[to as controller action host defaults constraints].freeze
      private_constant :OPTIONS

      # @!macro [new] verb
      #   @param path [String, Hash] "/users/:id", or `"/users" => "users#index"`
      #   @param options [Hash] to:, as:, host:, constraints:, defaults:; any other key constrains the capture of that
      #     name
      #   @yield the action, run in a controller; its parameters are the captures in order
      #   @return [Route]

      # Routes GET, and HEAD with it.
      # @macro verb
      def get(path = nil, **options, &block) = verb(%w[GET], path, options, block)

      # Routes POST.
      # @macro verb
      def post(path = nil, **options, &block) = verb(%w[POST], path, options, block)

      # Routes PUT.
      # @macro verb
      def put(path = nil, **options, &block) = verb(%w[PUT], path, options, block)

      # Routes PATCH.
      # @macro verb
      def patch(path = nil, **options, &block) = verb(%w[PATCH], path, options, block)

      # Routes DELETE.
      # @macro verb
      def delete(path = nil, **options, &block) = verb(%w[DELETE], path, options, block)

      # Routes HEAD alone.
      # @macro verb
      def head(path = nil, **options, &block) = verb(%w[HEAD], path, options, block)

      # Routes OPTIONS.
      # @macro verb
      def options(path = nil, **options, &block) = verb(%w[OPTIONS], path, options, block)

      # Routes several methods: `match "/search", via: [:get, :post], to: "search#show"`; `via: :all` takes each.
      # @macro verb
      def match(path = nil, via: :all, **options, &block)
        methods = Array(via).map { |method| method.to_s.upcase }
        verb(methods == ["ALL"] ? nil : methods, path, options, block)
      end

      # Routes "/": `root to: "home#index"`, `root "home#index"` or a block.
      # @return [Route]
      def root(target = nil, **options, &block)
        options[:to] = target if target
        get("/", as: "root", **options, &block)
      end

      # Sends clients elsewhere.
      # @param from [String] a pattern
      # @param to [String] a path or URL; `:name` takes the captured value
      # @param status [Integer] 301 by default
      # @return [Route]
      def redirect(from, to:, status: 301)
        get(from) do |*_captures|
          target = to.gsub(/:([A-Za-z_]\w*)/) { |word| params[word.delete_prefix(":").to_sym] || word }
          redirect_to(target, status: status)
        end
      end

      # Mounts a Rack application below a path.
      # @param rack [#call]
      # @param at [String]
      # @return [void]
      def mount(rack, at:)
        path = Pattern.normalize("#{scope_now.path}/#{at}")
        prefix = path == "/" ? "" : path
        mounted = Mount.new(rack, prefix)
        location = Location.of_caller
        [path, "#{prefix}/", "#{prefix}/*mounted_path"].uniq.each do |pattern|
          add(Route.new(pattern, rack: mounted, location: location, exact: true, host: scope_now.host))
        end
        nil
      end

      # Routes inside get a path in front, and what else is given.
      # @param path [String, nil]
      # @param options [Hash] module: a folder of controllers; as: in front of the names; controller:; host: a
      #   String or Regexp; constraints: and defaults: for the routes inside
      # @return [void]
      def scope(path = nil, **options, &block)
        now = scope_now
        inside(now.with(path: path ? "#{now.path}/#{path}" : now.path,
                        folder: join(now.folder, options[:module], "/"),
                        name_prefix: join(now.name_prefix, options[:as], "_"),
                        controller: options[:controller] || now.controller, host: options[:host] || now.host,
                        constraints: now.constraints.merge(options[:constraints] || {}),
                        defaults: now.defaults.merge(options[:defaults] || {})), &block)
      end

      # `scope` with path, folder and name the same: `namespace(:admin) { resources :users }`.
      # @param name [Symbol, String]
      # @return [void]
      def namespace(name, path: name, **options, &block)
        scope(path, as: name, module: name, **options, &block)
      end

      # Constraints for the captures of the routes inside.
      # @param values [Hash{Symbol => Regexp, String, Class, Symbol}]
      # @return [void]
      def constraints(values, &block)
        scope(constraints: values, &block)
      end

      private

      def scope_now
        @scope_now ||= Scope.root
      end

      def inside(scope, &block)
        before = scope_now
        @scope_now = scope
        block.arity == 1 ? block.call(self) : instance_exec(&block)
        nil
      ensure
        @scope_now = before
      end

      def join(outer, inner, separator)
        inner ? [outer, inner].compact.join(separator) : outer
      end

      def verb(methods, path, options, block)
        path, options = unfold(path, options)
        rack = options[:to] if options[:to].respond_to?(:call)
        now = scope_now
        pattern = "#{now.path}/#{path}"
        add(Route.new(pattern, methods: methods, block: block, rack: rack && Mount.new(rack, nil),
                               constraints: constraints_for(pattern, now, options),
                               fixed: block || rack ? defaults_for(now, options) : fixed_for(path, now, options),
                               name: name_for(path, now, options), location: Location.of_caller, args: options,
                               host: options[:host] || now.host))
      end

      # `get "/users" => "users#index"` arrives as a keyword whose key is a String.
      def unfold(path, options)
        return [path.to_s, options] unless path.nil?

        pair = options.find { |key, _| key.is_a?(String) }
        raise RouteError, "a route needs a path" if pair.nil?

        [pair.first, options.except(pair.first).merge(to: pair.last)]
      end

      def constraints_for(pattern, now, options)
        own = options.except(*OPTIONS).merge(options[:constraints] || {})
        now.constraints.slice(*Pattern.names(pattern)).merge(own)
      end

      def defaults_for(now, options)
        now.defaults.merge(options[:defaults] || {}).transform_values(&:to_s)
      end

      def fixed_for(path, now, options)
        controller, action = target_for(path, now, options)
        target = {}
        target[:controller] = join(now.folder, controller, "/") if controller
        target[:action] = action if action
        defaults_for(now, options).merge(target)
      end

      # "users#show" | "show" where a controller is known | the path itself where one is known
      def target_for(path, now, options)
        *controller, action = options[:to].to_s.split("#", 2)
        controller = controller.first || options[:controller] || now.controller
        names = Pattern.names(path)
        leads_nowhere(path) unless controller || names.include?(:controller)
        return [controller&.to_s, nil] if names.include?(:action)

        [controller&.to_s, (action || options[:action] || path.delete_prefix("/")).to_s]
      end

      def leads_nowhere(path)
        raise RouteError, "the route #{path.inspect} leads nowhere: give it a block, to: \"controller#action\" or " \
                          "mount an application"
      end

      def name_for(path, now, options)
        return now.name(options[:as].to_s) if options[:as]
        return if path.match?(/[:*(]/) || path.delete("/").empty? || !(options[:to] || now.name_suffix)

        now.name(path.delete_prefix("/").gsub(/\W/, "_"))
      end
    end
  end
end
