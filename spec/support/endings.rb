# frozen_string_literal: true

module Support
  # Procs that end early in ways that need a method of their own around them.
  module Endings
    class << self
      def deep(number)
        deep(number + 1) + 1
      end

      def breaking
        proc { break }
      end

      def returning
        proc { return }
      end

      def nexting
        proc { next }
      end
    end
  end
end
