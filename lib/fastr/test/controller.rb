# frozen_string_literal: true

module Fastr
  module Test
    # Calls one action, as in 2010: `get(:show, :params => { :id => 1 })` in a `UsersControllerTest` gives the Rack
    # response. It owns which controller that is; the application of the working directory is booted once.
    module Controller
      # The verbs, with the action in the place of a path.
      %i[get post put patch delete].each do |verb|
        define_method(verb) { |action, options = {}| make_request(verb, action, options) }
      end

      # Names the controller when the class's name does not.
      module ClassMethods
        # @param controller [String, Symbol] as routes write it: "users"
        # @return [void]
        def set_controller(controller) # rubocop:disable Naming/AccessorMethodName -- the name of 2010
          @controller_class = controller.to_s
        end

        # @return [String, nil]
        # @api private
        def fastr_controller
          @controller_class || name.to_s[/(\w+)ControllerTest\z/, 1]&.then { |word| Inflector.underscore(word) }
        end
      end

      # Lets the test class name its controller.
      # @api private
      def self.included(owner)
        super
        owner.extend(ClassMethods)
      end

      # Yields the test application.
      # @yieldparam app [Application]
      # @return [Object] the block's value
      def run_test_app
        yield(Controller.app)
      end

      # @return [Application] that of the working directory
      # @api private
      def self.app
        @apps ||= {}
        @apps[Dir.pwd] ||= Application.new(Dir.pwd)
      end

      # @return [String] the controller under test
      def get_controller_class # rubocop:disable Naming/AccessorMethodName -- the name of 2010
        self.class.fastr_controller || raise(ConfigurationError, "No controller set. Use set_controller.")
      end

      private

      def make_request(verb, action, options)
        run_test_app do |app|
          app.route = { ok: { controller: get_controller_class, action: action } }
          client = Client.new(app)
          response = client.request(verb.to_s.upcase, "/", params: options[:params], headers: options[:headers] || {})
          [response.status, response.headers, [response.body]]
        ensure
          app.route = nil
        end
      end
    end
  end
end
