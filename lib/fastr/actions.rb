# frozen_string_literal: true

module Fastr
  # Which methods of a controller class are actions, and which errors it answers itself. It owns these questions for
  # the class; running an action is {Endpoint}'s work.
  module Actions
    @generation = 0

    class << self
      # @return [Integer] grows with each new controller class
      attr_reader :generation

      # @return [void]
      def bump
        @generation += 1
      end
    end

    # @param name [String] may come from a client: nothing is made a Symbol before it is known
    # @return [Boolean] whether it is a public method that the application's own classes define
    def action?(name)
      return false unless public_method_defined?(name) && name.match?(/\A[A-Za-z_]\w*\z/)

      symbol = name.to_sym
      owner = instance_method(symbol).owner
      owner.is_a?(Class) && owner < Controller && !reserved?(symbol) && !filter_methods.include?(symbol)
    end

    # @return [Array<String>] the actions
    def actions
      public_instance_methods.map(&:name).select { |name| action?(name) }.sort
    end

    # @return [String] the name routes use: "admin/users" for Admin::UsersController
    def path
      @path ||= Inflector.underscore(name.to_s.delete_suffix("Controller"))
    end

    # Answers errors of these classes with a method or block; the one declared last is asked first.
    # @param errors [Array<Class>]
    # @param with [Symbol, nil] a method that takes the error (or nothing)
    # @yieldparam error [StandardError]
    # @return [void]
    # @example
    #   rescue_from(Timeout::Error) { |error| render text: "try again", status: 503 }
    def rescue_from(*errors, with: nil, &block)
      raise ArgumentError, "rescue_from takes errors and a method or a block" if errors.empty? || (with || block).nil?

      handler = with || define_method(:"fastr_rescue_#{own_handlers.size}", &block).tap { |name| private(name) }
      errors.each { |error| own_handlers.unshift([error, handler]) }
    end

    # @param error [Exception]
    # @return [Symbol, nil] the method that answers it
    def handler_for(error)
      found = own_handlers.find { |klass, _| error.is_a?(klass) }
      return found.last if found

      superclass.handler_for(error) if superclass.respond_to?(:handler_for)
    end

    private

    def own_handlers
      @own_handlers ||= []
    end

    def reserved?(name)
      Controller::OWN_WORDS.include?(name) || name.start_with?("fastr_") ||
        (Object.public_method_defined?(name) && name != :display)
    end
  end
  private_constant :Actions
end
