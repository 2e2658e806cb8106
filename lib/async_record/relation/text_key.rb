# frozen_string_literal: true

# Owns the answer to "which relations have the same SQL?": a key made of everything but the values. Refuses relations
# whose text a value may change; they have none and are compiled each time.

module AsyncRecord
  class Relation
    # Tells relations apart by their text.
    module TextKey
      # Stands before a column and its new name, and equals no name.
      RENAMED = Object.new.freeze
      private_constant :RENAMED

      # @api private
      # @return [Array, nil] equal for relations whose SELECT has the same text; nil where a value may change the text.
      #   One flat list: nested ones take four times as long to compare (1.2 µs instead of 0.3).
      def text_key
        return unless @groups.empty? && @havings.empty? && @join_sources.empty? && @lock_mode.nil? && @source.nil?

        key = [@distinct, @limit_value.nil?, @offset_value.nil?, @orders.size, @conditions.size]
        @orders.each { |term| key.concat(term) }
        @conditions.each { |condition| key << condition.text_key }
        selected_in(key) if @selections
        key unless unkeyed?
      end

      private

      # @return [Boolean] whether a clause holds more than names
      def unkeyed?
        distinct_columns || @conditions.any? { |condition| condition.text_key.nil? } ||
          @orders.any? { |term| term.first.is_a?(Sql) } ||
          @selections&.any? { |column| column.is_a?(Sql) || (column.is_a?(Array) && column.first.is_a?(Sql)) }
      end

      def selected_in(key)
        key << :select
        @selections.each { |column| column.is_a?(Array) ? key.push(RENAMED).concat(column) : key << column }
      end
    end
    private_constant :TextKey
  end
end
