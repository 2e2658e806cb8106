# frozen_string_literal: true

# Owns the loading of what many owners have, by their keys: one query for a plain association, two for one through
# others (the pairs of keys, then the targets). Long lists of keys are asked for in parts, side by side.
# Refuses to know owners: it takes keys and gives lists by key.

module AsyncRecord
  module Associations # rubocop:disable Style/Documentation -- documented where it begins
    # What belongs to which key.
    module Children
      # Keys in one statement. Statements stay short, and the texts few (lists are padded).
      SLICE = 1000
      # Parts that are asked for at once.
      AT_ONCE = 4
      private_constant :SLICE, :AT_ONCE

      class << self
        # @param reflection [Reflection]
        # @param keys [Array<Object>] of owners, each once
        # @yieldparam relation [Relation] of the targets, to be narrowed further
        # @return [Hash{Object => Array<Base>}]
        def fetch(reflection, keys, &narrow)
          refuse_limits(reflection)
          keys.empty? ? {} : collect(reflection, keys, narrow || ->(relation) { relation })
        end

        # Runs work for parts of a list; at once, unless a transaction holds the one connection there is.
        #
        # @return [Array<Object>] the results
        def in_parts(list, size = SLICE, &work)
          parts = list.each_slice(size).to_a
          return parts.map(&work) if parts.one? || Associations.in_transaction?

          AsyncRecord.gather(*parts.map { |part| -> { work.call(part) } }, limit: AT_ONCE)
        end

        private

        def collect(reflection, keys, narrow)
          return through(reflection, keys, narrow) if reflection.through?

          lists = in_parts(keys) { |part| direct(reflection.unowned, reflection.target_key, part, narrow) }
          lists.each_with_object({}) { |(records, values), found| group(records, values, found) }
        end

        def direct(relation, column, keys, narrow)
          narrow.call(relation.where(column => keys)).with_values_of(column)
        end

        def group(records, values, found)
          records.each_with_index { |record, index| (found[values[index]] ||= []) << record }
        end

        def through(reflection, keys, narrow)
          pairs = pairs(reflection, keys).flat_map { |rows| rows.values_at_column(0).zip(rows.values_at_column(1)) }
          step = reflection.chain.last.first
          targets = reflection.unowned
          sources = pairs.filter_map { |_, source| step.cast_key(source) }.uniq
          lists = in_parts(sources) { |part| direct(targets, step.target_key, part, narrow) }
          by_source = lists.each_with_object({}) { |(records, values), found| group(records, values, found) }
          distribute(pairs, by_source, step, targets.orders.empty? ? nil : ranks(lists))
        end

        # A target comes as often as there are links to it, in the order of the targets, else of the links.
        def distribute(pairs, by_source, step, ranks)
          found = pairs.each_with_object({}) do |(key, source), lists|
            targets = by_source[step.cast_key(source)]
            (lists[key] ||= []).concat(targets) if targets
          end
          found.each_value { |list| list.sort_by!.with_index { |one, index| [ranks[one], index] } } if ranks
          found
        end

        def ranks(lists)
          places = {}.compare_by_identity
          lists.flat_map(&:first).each { |record| places[record] = places.size }
          places
        end

        # @return [Array<AsyncRecord::Rows>] of two columns: the owner's key, the key that the last step starts from
        def pairs(reflection, keys)
          (first, scopes), *between = reflection.chain[0..-2]
          last = reflection.chain.last.first
          relation = scopes.reduce(first.klass.bare_relation) { |base, scope| base.instance_exec(&scope) || base }
          relation = relation.joined_by(JoinSource::Onward.new(between).freeze) unless between.empty?
          column = between.empty? ? last.owner_key : [JoinSource::LAST, last.owner_key].freeze
          in_parts(keys) { |part| relation.where(first.target_key => part).rows_of_columns(first.target_key, column) }
        end

        def refuse_limits(reflection)
          return if reflection.batchable?

          raise AssociationError, "#{reflection} cannot be preloaded: its scope takes its owner, or has a limit or a " \
                                  "group, which would hold for all owners together; read it record by record"
        end
      end
    end

    # @return [Boolean] whether the running fiber has a transaction, whose statements come one after the other
    # @api private
    def self.in_transaction?
      Context.current.each_value.any?(Transaction)
    end
  end
end
