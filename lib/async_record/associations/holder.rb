# frozen_string_literal: true

# Owns what One and Many have in common: when an association of one record has to be loaded, and by which way: together
# with the records that were loaded together, or alone. Refuses to load for strict records.

module AsyncRecord
  module Associations
    # One record's side of an association.
    class Holder
      # @return [Base]
      attr_reader :owner
      # @return [Reflection]
      attr_reader :reflection

      # @param owner [Base]
      # @param reflection [Reflection]
      def initialize(owner, reflection)
        @owner = owner
        @reflection = reflection
        @loaded = false
      end

      # @return [Class] the other model
      def klass
        reflection.klass
      end

      # @return [Object, nil] the owner's key, as the other table has it
      def key
        owner.has_attribute?(reflection.owner_key) ? reflection.cast_key(owner[reflection.owner_key]) : unselected
      end

      # What belongs to the owner, as a query.
      #
      # @return [Relation]
      def relation
        reflection.through? ? relation_through : reflection.scoped(narrowed, owner)
      end

      private

      # @return [Array<Base>]
      def fetch
        refuse_if_strict
        key = self.key
        return [] if key.nil?

        together(key) || alone
      end

      # @return [Array<Base>, nil] nil if the record is alone, or the batch cannot help
      def together(key)
        batch = owner.batch
        return unless batch && owner.class.automatic_preload && reflection.batchable?

        while batch.knows?(reflection) && !batch.loaded?(reflection)
          Sharing.run(batch, reflection.name, klass.database) do
            batch.load(reflection) unless batch.loaded?(reflection)
          end
        end
        batch.take(reflection, key) if batch.knows?(reflection)
      end

      def alone
        reflection.many? ? relation.to_a : [relation.take].compact
      end

      # Several readers of one record share one query.
      def once(&work)
        Sharing.run(owner, reflection.name, klass.database, &work)
      end

      def narrowed
        key = self.key
        return klass.bare_relation.where(reflection.target_key => key) unless key.nil?

        klass.bare_relation.where_owner(self, reflection.target_key)
      end

      def relation_through
        chain = reflection.chain
        condition = Condition::OfOwner.new(self, [JoinSource.via(0), chain.first.first.target_key].freeze)
        reflection.unowned.joined_by(JoinSource::Back.new(chain).freeze, [condition], orders_between(chain))
      end

      # The steps between may be ordered too; the target's own order comes first.
      def orders_between(chain)
        chain[0..-2].each_with_index.flat_map do |(step, scopes), index|
          relation = scopes.reduce(step.klass.bare_relation) { |base, scope| base.instance_exec(&scope) || base }
          relation.orders.map do |column, direction, nulls|
            [column.is_a?(Sql) ? column : [JoinSource.via(index), column.to_s].freeze, direction, nulls].freeze
          end
        end
      end

      # The other side learns where it came from, so that going back asks nothing.
      def lead_back(record)
        inverse = reflection.inverse
        record.association(inverse.name).owned_by(owner) if inverse && !inverse.many? && inverse.klass >= owner.class
        record
      end

      def check_class(record)
        return if record.is_a?(klass)

        raise AssociationMismatch, "#{reflection} takes a #{klass}, not a #{record.class}"
      end

      def refuse_if_strict
        return unless owner.strict?

        raise StrictLoadingError, "#{reflection} was not preloaded, and this record is strict: write " \
                                  "#{owner.class}.preload(#{reflection.name.inspect}), or " \
                                  "AsyncRecord.preload(records, #{reflection.name.inspect})"
      end

      def unselected
        raise MissingAttribute, "#{reflection} needs #{reflection.owner_key.inspect}, and this #{owner.class} was " \
                                "loaded without it"
      end
    end
  end
end
