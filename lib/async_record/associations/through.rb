# frozen_string_literal: true

# Owns what an association through others means: the chain of plain associations that leads from the owner to the
# target, however deep the nesting. Refuses to know how a chain becomes SQL or records.

module AsyncRecord
  module Associations
    # `has_many :tags, through: :taggings`
    class Through < Reflection
      # @return [Boolean]
      def through?
        true
      end

      # @return [Reflection] the association of the owner that is gone through
      def via
        owner.reflection(options[:through])
      end

      # @return [Reflection] the association of the model between that leads to the target
      # @raise [AssociationError]
      def source
        @source ||= source_names.filter_map { |name| via.klass.reflections[name] }.first || no_source
      end

      # @return [Class]
      def klass
        source.klass
      end

      # (see Reflection#chain)
      def chain
        @chain ||= build_chain.freeze
      end

      # @return [String]
      def owner_key
        chain.first.first.owner_key
      end

      # @return [String] the column that the last step looks for
      def target_key
        chain.last.first.target_key
      end

      # (see Reflection#cast_key)
      def cast_key(value)
        chain.first.first.cast_key(value)
      end

      # @return [nil] a target has no one record to lead back to
      def inverse
        nil
      end

      # @return [Relation] of the target: with the scopes of all associations that end there
      def unowned
        chain.last.last.reduce(klass.bare_relation) do |relation, scope|
          relation.instance_exec(&scope) || relation
        end
      end

      # @return [Boolean] whether records can be added and removed: a list of links, each belonging to a target
      def writable?
        many? && !via.through? && via.kind == :has_many && !source.through? && source.belongs_to?
      end

      private

      def source_names
        return [options[:source].to_sym] if options[:source]

        [Inflector.singularize(name.to_s).to_sym, name]
      end

      def no_source
        known = via.klass.reflections.keys
        raise AssociationError, "#{self} goes through #{via}, but #{via.klass} has no association " \
                                "#{source_names.map(&:inspect).uniq.join(' or ')}; say source: with one of " \
                                "#{known.empty? ? 'its associations (it has none)' : known.map(&:inspect).join(', ')}"
      end

      def build_chain
        steps = via.chain + source.chain
        return steps if scope.nil?

        *before, (last, scopes) = steps
        [*before, [last, [*scopes, scope]].freeze]
      end
    end
  end
end
