# frozen_string_literal: true

module Fastr
  # Ruby's just-in-time compiler. It owns one decision: a server in production runs with YJIT where Ruby can turn it on
  # without a restart (3.3 and later). `RUBY_YJIT_ENABLE`, whatever its value, leaves the decision to Ruby.
  module JIT
    # Turns it on.
    # @return [void]
    def self.enable
      return if !Fastr.production? || ENV.key?("RUBY_YJIT_ENABLE") || !can_enable?

      RubyVM::YJIT.enable
      nil
    end

    def self.can_enable?
      defined?(RubyVM::YJIT) && RubyVM::YJIT.respond_to?(:enable)
    end
    private_class_method :can_enable?
  end
  private_constant :JIT
end
