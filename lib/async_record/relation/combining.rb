# frozen_string_literal: true

# Owns the making of one relation out of two.

module AsyncRecord
  class Relation
    # Joins relations of one model.
    module Combining
      NAMED = /\A\w+(?:\.\w+)?\z/
      private_constant :NAMED

      # Either these conditions or the other relation's.
      #
      # @param other [Relation] of the same model, equal in all but its conditions
      # @return [Relation]
      def or(other)
        check_same_shape(other)
        return self if @conditions.empty?
        return other.with_conditions_of(other) if other.conditions.empty?

        either = Condition::Any.new([Condition::All.new(@conditions), Condition::All.new(other.conditions)])
        with(:@conditions, [either].freeze)
      end

      # These conditions and the other relation's.
      #
      # @param other [Relation]
      # @return [Relation]
      def and(other)
        check_same_shape(other)
        with(:@conditions, (@conditions + other.conditions).freeze)
      end

      # Everything the other relation says, on top of what this one says. Its conditions on a column replace this one's.
      #
      # @param other [Relation, Hash] of the same model; a Hash is taken as conditions
      # @return [Relation]
      def merge(other)
        return rewhere(other) if other.is_a?(Hash)

        other.merged_into(self)
      end

      protected

      # What the other relation needs to know for `or` and `and`.
      def shape
        [@model, @limit_value, @offset_value, @groups, @havings, @join_sources, @source]
      end

      def with_conditions_of(other)
        with(:@conditions, other.conditions)
      end

      def merged_into(base)
        base = base.without_conditions(where: conditions.filter_map(&:column_name).grep(NAMED))
        merged = { :@conditions => conditions, :@havings => havings, :@groups => groups,
                   :@join_sources => join_sources }
        result = merged.reduce(base) { |relation, (name, added)| relation.append(name, added) }
        replaced = { :@orders => orders.empty? ? nil : orders, :@selections => selections, :@limit_value => limit_value,
                     :@offset_value => offset_value, :@lock_mode => lock_mode, :@transaction => transaction,
                     :@distinct => @distinct || nil, :@source => source, :@none => @none || nil,
                     :@strict => @strict || nil,
                     :@preloads => preloads && Tree.merge(base.preloads || Tree::EMPTY, preloads) }
        replaced.compact.reduce(result) { |relation, (name, value)| relation.with(name, value) }
      end

      def append(name, added)
        added.empty? ? self : with(name, (instance_variable_get(name) + added).freeze)
      end

      private

      def check_same_shape(other)
        return if other.is_a?(Relation) && shape == other.shape

        raise ArgumentError, "or and and take a relation of #{model} with the same limit, offset, group and joins"
      end
    end
    private_constant :Combining
  end
end
