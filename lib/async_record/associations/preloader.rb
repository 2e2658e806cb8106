# frozen_string_literal: true

# Owns the loading of associations for records that are there: level by level, one query for each association and level;
# associations that do not need each other run at once, each on a connection of its own. What a record has loaded
# already is not asked for again. Refuses names that are no associations before anything is asked.

module AsyncRecord
  # Loads trees of associations.
  module Preloader
    class << self
      # @param model [Class]
      # @param tree [Hash{Symbol => Hash}]
      # @return [void]
      # @raise [UnknownAssociation]
      def check(model, tree)
        tree.each do |name, below|
          reflection = model.reflection(name)
          check(reflection.klass, below) unless below.empty?
        end
      end

      # @param records [Array<Base>] of any models
      # @param strict [Boolean] whether what is loaded refuses to load more
      # @return [void]
      def run(records, tree, strict: false)
        branches = records.group_by(&:class).flat_map do |model, group|
          tree.map { |name, below| [model.reflection(name), group, below] }
        end
        Associations.at_once(branches) { |reflection, group, below| branch(reflection, group, below, strict) }
      end

      private

      def branch(reflection, records, below, strict)
        load(reflection, records.reject { |record| record.association(reflection.name).loaded? }, strict)
        return if below.empty?

        children = records.flat_map { |record| record.association(reflection.name).target || [] }
        run(children.uniq(&:__id__), below, strict: strict) unless children.empty?
      end

      def load(reflection, records, strict)
        return if records.empty?

        holders = records.map { |record| record.association(reflection.name) }
        keys = holders.map(&:key)
        found = Associations::Children.fetch(reflection, keys.compact.uniq, strict: strict)
        holders.zip(keys) { |holder, key| holder.take(found[key]&.dup || []) unless holder.loaded? }
      end
    end
  end
  private_constant :Preloader
end
