# frozen_string_literal: true

module Fastr
  class Router
    # `resources` and `resource`: the seven (six) routes of a thing, its member and collection routes, and things inside
    # things. It owns their paths and names; the verbs it is written in are {Drawing}'s.
    module Resources
      # The actions of a resource: method, path behind the collection, whether it is about one member.
      ACTIONS = {
        index: [:get, "", false], new: [:get, "/new", false], create: [:post, "", false],
        show: [:get, "", true], edit: [:get, "/edit", true], update: [:patch, "", true], destroy: [:delete, "", true]
      }.freeze
      private_constant :ACTIONS

      # @param names [Array<Symbol>] `:users`
      # @param only [Array<Symbol>] these actions
      # @param except [Array<Symbol>] all but these
      # @param options [Hash] path:, controller:, as:, param: (default :id), constraints:
      # @yield member, collection and nested routes
      # @return [void]
      # @example
      #   resources :users, only: %i[index show] do
      #     member { get :avatar }
      #     resources :posts
      #   end
      def resources(*names, only: nil, except: nil, **options, &block)
        names.each do |name|
          thing = thing(name, options, plural: true)
          chosen(ACTIONS.keys, only, except).each { |action| resource_route(action, thing) }
          nest(thing, &block) if block
        end
      end

      # A thing there is one of: no index, no id.
      # @see #resources
      def resource(*names, only: nil, except: nil, **options, &block)
        names.each do |name|
          thing = thing(name, options, plural: false)
          chosen(ACTIONS.keys - [:index], only, except).each { |action| resource_route(action, thing) }
          nest(thing, &block) if block
        end
      end

      # Routes about one member of the resource around: `/users/:id/avatar`.
      def member(&block)
        thing = thing_now(:member)
        inside(scope_now.with(path: thing.member_path, name_prefix: thing.outer_name, name_suffix: thing.singular,
                              controller: thing.controller), &block)
      end

      # Routes about the whole resource around: `/users/search`.
      def collection(&block)
        thing = thing_now(:collection)
        inside(scope_now.with(path: thing.path, name_prefix: thing.outer_name, name_suffix: thing.plural,
                              controller: thing.controller), &block)
      end

      private

      Thing = Struct.new(:path, :member_path, :nested_path, :controller, :singular, :plural, :outer_name, :constraints)
      private_constant :Thing

      def thing(name, options, plural:)
        path = "#{scope_now.path}/#{options[:path] || name}"
        param = options[:param] || :id
        plural_name = (options[:as] || name).to_s
        singular = plural ? Inflector.singularize(plural_name) : plural_name
        controller = options[:controller] || (plural ? name : Inflector.pluralize(name.to_s))
        Thing.new(path, plural ? "#{path}/:#{param}" : path, plural ? "#{path}/:#{singular}_#{param}" : path,
                  controller.to_s, singular, plural_name, scope_now.name_prefix,
                  nested_constraints(options[:constraints] || {}, singular, param))
      end

      # A constraint on :id holds for :user_id of the routes inside as well.
      def nested_constraints(constraints, singular, param)
        return constraints unless constraints.key?(param)

        constraints.merge("#{singular}_#{param}": constraints[param])
      end

      def chosen(all, only, except)
        unknown = (Array(only) + Array(except)).map(&:to_sym) - all
        unless unknown.empty?
          raise RouteError, "a resource has no action #{unknown.first}.#{Suggestion.for(unknown.first, all)}"
        end
        return Array(only).map(&:to_sym) if only

        all - Array(except).map(&:to_sym)
      end

      def resource_route(action, thing)
        method, tail, member = ACTIONS[action]
        pattern = "#{member ? thing.member_path : thing.path}#{tail}"
        methods = { get: %w[GET], post: %w[POST], patch: %w[PATCH PUT], delete: %w[DELETE] }[method]
        add(Route.new(pattern, methods: methods, location: Location.of_caller,
                               constraints: constraints_for(pattern, scope_now, { constraints: known(thing, pattern) }),
                               fixed: defaults_for(scope_now, {}).merge(controller: folded(thing), action: action.to_s),
                               name: resource_name(action, thing), host: scope_now.host))
      end

      def known(thing, pattern)
        thing.constraints.slice(*Pattern.names(pattern))
      end

      def folded(thing)
        join(scope_now.folder, thing.controller, "/")
      end

      def resource_name(action, thing)
        case action
        when :index then [thing.outer_name, thing.plural].compact.join("_")
        when :show then [thing.outer_name, thing.singular].compact.join("_")
        when :new, :edit then [action, thing.outer_name, thing.singular].compact.join("_")
        when :create, :update, :destroy then nil
        end
      end

      def nest(thing, &block)
        outer = @thing_now
        @thing_now = thing
        inside(scope_now.with(path: thing.nested_path, name_prefix: join(scope_now.name_prefix, thing.singular, "_"),
                              constraints: scope_now.constraints.merge(thing.constraints)), &block)
      ensure
        @thing_now = outer
      end

      def thing_now(word)
        @thing_now || raise(RouteError, "`#{word}` belongs inside a `resources` block")
      end
    end
  end
end
