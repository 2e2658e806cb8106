# frozen_string_literal: true

require "async_record"
require_relative "test/pin"

# Owns the test mode: everything that an example does to the databases happens in one transaction of each, which is
# rolled back when the example ends. Refuses to be loaded by the library itself.

module AsyncRecord
  # Tests that leave nothing behind.
  #
  # One connection of each database is pinned for the example. Every fiber and thread uses it, in the order in which
  # they ask, so that what the example wrote is seen by the request it makes. Transactions become savepoints, their
  # `after_commit` hooks run when the outermost one is over. What cannot be had on one connection is not tested like
  # this: two transactions at once (the second waits for the first), isolation levels (they are not looked at),
  # replicas.
  #
  # @example RSpec
  #   require "async_record/test"
  #   RSpec.configure { |config| config.include AsyncRecord::Test::RSpec }
  # @example Minitest
  #   class Minitest::Test
  #     include AsyncRecord::Test::Minitest
  #   end
  module Test
    @databases = nil
    @pins = []

    class << self
      # Which databases are pinned; by default those that were connected, and the one of {Base}.
      # @return [Array<Database>]
      def databases
        @databases || known
      end

      # @param databases [Array<Database>, nil] nil for the default
      # @return [void]
      attr_writer :databases

      # @yield in test mode
      # @return [Object] what the block returns
      def isolate
        start
        yield
      ensure
        finish
      end

      # Begins the test mode. An application that boots within the example is pinned when it connects.
      # @return [void]
      def start
        finish
        databases.each { |database| pin(database) }
        AsyncRecord.on_connect = method(:pin) unless @databases
      end

      # Rolls back and ends it.
      # @return [void]
      def finish
        AsyncRecord.on_connect = nil
        @pins.pop.release until @pins.empty?
      end

      private

      def pin(database)
        @pins << Pin.new(database)
      end

      def known
        [*AsyncRecord.databases.values, base].compact.uniq
      end

      def base
        Base.database
      rescue ConfigurationError
        nil
      end
    end

    # Each example of a group in test mode.
    module RSpec
      # @api private
      def self.included(group)
        super
        group.around { |example| Test.isolate { example.run } }
      end
    end

    # Each test of a class in test mode.
    module Minitest
      # @api private
      def before_setup
        Test.start
        super
      end

      # @api private
      def after_teardown
        super
      ensure
        Test.finish
      end
    end
  end
end
