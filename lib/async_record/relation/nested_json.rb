# frozen_string_literal: true

# Owns the fetching of rows for JSON with associations inside: one query for each association and level, siblings at
# once. Only keys come to Ruby; the rows stay in Rust, which nests and writes them.
# Refuses to make records.

module AsyncRecord
  class Relation
    # Collects a tree of results for Rust. A node is `[parts, only, except, branches]`, a branch
    # `[name, many, parent_key, child_key, links, ordered, node]`.
    module NestedJson
      EMPTY = [[].freeze, nil, nil, [].freeze].freeze
      private_constant :EMPTY

      class << self
        # @param relation [Relation]
        # @param shape [JsonShape]
        # @return [String]
        def write(relation, shape)
          Rows.nested_json(node(relation.model, [relation], shape))
        end

        private

        # @param relations [Array<Relation>] that together give the rows
        def node(model, relations, shape, found_by = [])
          chosen, hidden = relations.map { |relation| relation.with_keys(shape, found_by) }.transpose
          parts = Associations.at_once(chosen, &:rows)
          branches = Associations.at_once(shape.branches.to_a) do |name, below|
            branch(model.reflection(name), parts, below)
          end
          [parts, shape.only, shape.except + hidden.first, branches]
        end

        def branch(reflection, parts, shape)
          keys = parts.flat_map { |rows| rows.values_at_column(rows.columns.index(reflection.owner_key)) }
          keys = keys.filter_map { |key| reflection.cast_key(key) }.uniq
          links = reflection.through? ? Associations::Children.links(reflection, keys) : nil
          step = reflection.chain.last.first
          keys = Associations::Children.sources(reflection, links) if links
          [reflection.name.to_s, reflection.many?, reflection.owner_key, step.target_key, links,
           !reflection.unowned.orders.empty?, children(reflection, step.target_key, keys, shape)]
        end

        def children(reflection, column, keys, shape)
          return EMPTY if keys.empty?

          relations = Associations::Children.relations(reflection, column, keys)
          node(reflection.klass, relations, shape, [column])
        end
      end
    end
    private_constant :NestedJson
  end
end
