# frozen_string_literal: true

# Owns finding and loading the compiled extension; refuses to build it.
# A precompiled gem carries one library per Ruby ABI (fastr/3.1/native), a source build exactly one (fastr/native).
module Fastr
  # Loads the extension once, with an error that says how to get one when there is none.
  module NativeLoader
    ABI = RUBY_VERSION[/\A\d+\.\d+/]
    FEATURES = ["fastr/#{ABI}/native", "fastr/native"].freeze

    class << self
      # @return [String] the feature that was loaded
      # @raise [LoadError] when no library fits this Ruby; the message names the fix
      def load
        failures = likely.map do |feature|
          require feature
          return feature
        rescue LoadError => error
          error.message
        end
        raise LoadError, advice(failures)
      end

      private

      # A precompiled library lies beside this file. RubyGems would look for a missing one in every installed gem, which
      # takes longer than loading all the rest.
      def likely
        Dir["#{__dir__}/#{ABI}/native.*"].empty? ? FEATURES.drop(1) : FEATURES
      end

      def advice(failures)
        <<~MESSAGE
          fastr has no compiled extension for Ruby #{RUBY_VERSION} on #{RUBY_PLATFORM}.
            From a checkout:    rake compile
            As a gem:           gem install fastr-rb --platform ruby   (compiles; needs cargo, a C compiler and libclang)
          Tried:
          #{failures.map { |line| "  - #{line}" }.join("\n")}
        MESSAGE
      end
    end
  end
end

Fastr::NativeLoader.load
