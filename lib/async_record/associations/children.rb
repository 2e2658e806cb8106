# frozen_string_literal: true

# Owns the asking for what many owners have, by their keys: one query for a plain association, two for one through
# others (the pairs of keys, then the targets). Long lists of keys are asked for in parts, side by side.
# Refuses to know owners: it takes keys and gives lists by key.

module AsyncRecord
  module Associations # rubocop:disable Style/Documentation -- documented where it begins
    # Work done at once.
    AT_ONCE = 8

    class << self
      # @return [Boolean] whether the running fiber has a transaction, whose statements come one after the other
      def in_transaction?
        Context.current.each_value.any?(Transaction)
      end

      # Does work for each item, on connections of their own; one after the other where a transaction holds the one
      # connection there is.
      #
      # @return [Array<Object>] the results
      def at_once(items, &work)
        return items.map(&work) if items.size < 2 || in_transaction?

        AsyncRecord.gather(*items.map { |item| -> { work.call(item) } }, limit: AT_ONCE)
      end
    end

    # What belongs to which key.
    module Children
      # Keys in one statement. Statements stay short, and the texts few (lists are padded).
      SLICE = 1000
      private_constant :SLICE

      class << self
        # @param reflection [Reflection]
        # @param keys [Array<Object>] of owners, each once
        # @param strict [Boolean] whether the records refuse to load more by themselves
        # @return [Hash{Object => Array<Base>}]
        # @raise [AssociationError] if the scope's limit would hold for all owners together
        def fetch(reflection, keys, strict: false)
          refuse_limits(reflection)
          return {} if keys.empty?

          reflection.through? ? through(reflection, keys, strict) : direct(reflection, keys, strict)
        end

        # @return [Array<Relation>] that together give what belongs to the keys
        # @raise [AssociationError]
        def relations(reflection, column, keys)
          refuse_limits(reflection)
          all = reflection.unowned
          keys.each_slice(SLICE).map { |part| all.where(column => part) }
        end

        # @return [Array<AsyncRecord::Rows>] of two columns: the owner's key, the key that the last step starts from
        def links(reflection, keys)
          (first, scopes), *between = reflection.chain[0..-2]
          last = reflection.chain.last.first
          relation = scopes.reduce(first.klass.bare_relation) { |base, scope| base.instance_exec(&scope) || base }
          relation = relation.joined_by(JoinSource::Onward.new(between).freeze) unless between.empty?
          column = between.empty? ? last.owner_key : [JoinSource::LAST, last.owner_key].freeze
          Associations.at_once(keys.each_slice(SLICE).map { |part| relation.where(first.target_key => part) }) do |part|
            part.rows_of_columns(first.target_key, column)
          end
        end

        # @return [Array<Object>] the keys that the last step starts from, each once
        def sources(reflection, links)
          step = reflection.chain.last.first
          links.flat_map { |rows| rows.values_at_column(1) }.filter_map { |key| step.cast_key(key) }.uniq
        end

        private

        def direct(reflection, keys, strict)
          grouped(load(reflection, reflection.target_key, keys, strict))
        end

        def through(reflection, keys, strict)
          links = links(reflection, keys)
          step = reflection.chain.last.first
          lists = load(reflection, step.target_key, sources(reflection, links), strict)
          found = distribute(links, grouped(lists), step)
          sort(found, lists) unless reflection.unowned.orders.empty?
          found
        end

        # @return [Array<Array(Array<Base>, Array<Object>)>] records, and for each the value of the column
        def load(reflection, column, keys, strict)
          Associations.at_once(relations(reflection, column, keys)) do |relation|
            (strict ? relation.strict : relation).with_values_of(column)
          end
        end

        def grouped(lists)
          lists.each_with_object({}) do |(records, values), found|
            records.each_with_index { |record, index| (found[values[index]] ||= []) << record }
          end
        end

        # A target comes as often as there are links to it.
        def distribute(links, by_source, step)
          links.each_with_object({}) do |rows, found|
            rows.values_at_column(0).zip(rows.values_at_column(1)) do |key, source|
              targets = by_source[step.cast_key(source)]
              (found[key] ||= []).concat(targets) if targets
            end
          end
        end

        # Ordered targets count more than the order of the links.
        def sort(found, lists)
          places = {}.compare_by_identity
          lists.flat_map(&:first).each { |record| places[record] = places.size }
          found.each_value { |list| list.sort_by!.with_index { |record, index| [places[record], index] } }
        end

        def refuse_limits(reflection)
          return if reflection.batchable?

          raise AssociationError, "#{reflection} cannot be preloaded: its scope takes its owner, or has a limit or a " \
                                  "group, which would hold for all owners together; read it record by record"
        end
      end
    end
  end
end
