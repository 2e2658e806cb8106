# frozen_string_literal: true

# Owns the taking back and replacing of what a relation says already. Refuses to look into hand-written SQL: a fragment
# is never about one column.

module AsyncRecord
  class Relation
    # Replaces and takes back.
    module Rewriting
      PARTS = {
        where: [:@conditions, EMPTY], order: [:@orders, EMPTY], limit: [:@limit_value, nil],
        offset: [:@offset_value, nil], select: [:@selections, nil], group: [:@groups, EMPTY],
        having: [:@havings, EMPTY], joins: [:@join_sources, EMPTY], lock: [:@lock_mode, nil],
        distinct: [:@distinct, false], from: [:@source, nil], none: [:@none, false]
      }.freeze
      private_constant :PARTS

      # Takes clauses back, or the conditions on some columns.
      #
      # @example
      #   posts.unscope(:order, :limit)
      #   posts.unscope(where: :state)
      # @param parts [Array<Symbol, Hash>]
      # @return [Relation]
      def unscope(*parts, **columns)
        parts << columns unless columns.empty?
        parts.reduce(self) do |relation, part|
          part.is_a?(Hash) ? relation.without_conditions(part) : relation.without(part)
        end
      end
      alias except unscope

      # Replaces the conditions on columns.
      #
      # @example
      #   Post.where(state: "draft").rewhere(state: "live")
      # @return [Relation]
      def rewhere(conditions = {}, **named)
        conditions = conditions.merge(named)
        unscope(where: conditions.keys).where(conditions)
      end

      # @return [Relation] the rows that the conditions leave out; see {Relation#not}
      def invert_where
        conditions.empty? ? self : with(:@conditions, [Condition::Not.new(conditions)].freeze)
      end

      # Chooses columns anew; see {Relation#select}.
      # @return [Relation]
      def reselect(*columns)
        without(:select).select(*columns)
      end

      # Groups anew.
      # @return [Relation]
      def regroup(*columns)
        without(:group).group(*columns)
      end

      # @return [Relation] without these records
      def excluding(*records)
        keys = records.flat_map { |record| record.is_a?(Array) && record.all?(Base) ? record : [record] }.compact
        keys = keys.map { |record| record.is_a?(Base) ? record.id : record }
        keys.empty? ? self : self.not(model.keys_condition(keys))
      end
      alias without_records excluding

      protected

      def without(part)
        name, empty = PARTS.fetch(part) do
          raise ArgumentError, "unscope takes #{PARTS.keys.join(', ')}, not #{part.inspect}"
        end
        with(name, empty)
      end

      def without_conditions(columns)
        unless columns.keys == [:where]
          raise ArgumentError, "unscope takes where: columns, not #{(columns.keys - [:where]).first.inspect}"
        end

        names = Array(columns[:where]).flatten.map { |name| column_name(name, "unscope").to_s }
        with(:@conditions, conditions.reject { |node| names.any? { |name| node.about?(name) } }.freeze)
      end
    end
    private_constant :Rewriting
  end
end
