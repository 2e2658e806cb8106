# frozen_string_literal: true

# Owns the rows between: what adding to and removing from a `has_many through:` does. Only a plain list of links, each
# of which belongs to a target, can be written this way. Refuses the other shapes, where it would have to guess.

module AsyncRecord
  module Associations
    # Links of a has_many through others.
    module Links
      private

      # @return [Boolean]
      def link(record, save)
        links = links!
        return false unless record.persisted? || record.public_send(save)

        links.create({ reflection.source.name => record }, save: save).persisted?
      end

      # A new owner's links are saved with it, and they save their new targets.
      def attach_link(record)
        links!.build(reflection.source.name => record)
      end

      def unlink(records)
        links = links!
        step = reflection.source
        keys = records.map { |record| record[step.target_key] }
        rows = links.relation.where(step.owner_key => keys)
        links.reflection.options[:dependent] == :destroy ? rows.destroy_all : rows.delete_all
        links.reset
      end

      def links!
        return owner.association(reflection.via.name) if reflection.writable?

        raise AssociationError, "#{reflection} cannot be written: only a has_many through a has_many whose records " \
                                "belong to the target can; create the #{reflection.via.klass} records yourself"
      end
    end
  end
end
