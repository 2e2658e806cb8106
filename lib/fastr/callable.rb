# frozen_string_literal: true

module Fastr
  # Calls blocks whose home method has already returned. It owns one rule: `return value` inside such a block
  # ends the block with that value, as everybody who wrote `task(proc { return "finished" }, …)` in 2010 expected;
  # Ruby itself raises LocalJumpError there.
  module Callable
    # @param callable [#call] a proc, lambda or method
    # @param arguments [Array] what to call it with
    # @return [Object] the block's value
    def self.call(callable, *arguments)
      callable.call(*arguments)
    rescue LocalJumpError => error
      raise unless error.reason == :return

      error.exit_value
    end
  end
  private_constant :Callable
end
