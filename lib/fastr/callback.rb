# frozen_string_literal: true

module Fastr
  # Turns what an interface takes as "the code to call" into one callable.
  # @api private
  module Callback
    # @overload from(&block)
    # @overload from(callable)
    # @overload from(object, method_name)
    # @return [#call]
    # @raise [ArgumentError] when none of the forms was given
    def self.from(object = nil, method_name = nil, &block)
      return block if block
      return object.method(method_name) if method_name
      return object if object.respond_to?(:call)

      raise ArgumentError, "give a block, an object that responds to call, or an object and a method name"
    end
  end
end
