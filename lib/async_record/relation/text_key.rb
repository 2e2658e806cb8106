# frozen_string_literal: true

# Owns the answer to "may other relations have the same SQL?". Which ones do, {Shapes} finds out.

module AsyncRecord
  class Relation
    # Tells relations whose text is remembered from those that are compiled each time.
    module TextKey
      # @api private
      # @return [Boolean] whether it has clauses that are written anew each time
      def own_text?
        !(@groups.empty? && @havings.empty? && @join_sources.empty? && @lock_mode.nil? && @source.nil?) ||
          @distinct.is_a?(Array)
      end
    end
    private_constant :TextKey
  end
end
