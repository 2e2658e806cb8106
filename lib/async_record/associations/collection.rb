# frozen_string_literal: true

# Owns what a program holds for a has_many: a relation narrowed to one owner that remembers what was loaded and what was
# built. Whatever narrows it further (`where`, `order`, scopes) gives a plain relation, which asks the database.
# Refuses to know how records come and go: Many does.

module AsyncRecord
  module Associations
    # Mixed into a model's class of relations.
    #
    # @example
    #   post.comments.each { |comment| … }              # loads once
    #   post.comments.where(state: 1).count             # asks
    #   post.comments << Comment.new(body: "x")
    #   post.comments.create!(body: "y")
    module Collection
      # @api private
      def belong_to(association, plain)
        @association = association
        @plain = plain.for_owner(association)
        @plain.instance_variables.each { |name| instance_variable_set(name, @plain.instance_variable_get(name)) }
        freeze
      end

      # @return [Array<Base>, Pending] loaded once
      def to_a(&block)
        perform(block) { @association.read.dup }
      end
      alias load to_a
      alias entries to_a
      alias records to_a

      # @return [self, Enumerator]
      def each(&block)
        return to_enum(:each) unless block

        @association.read.each(&block)
        self
      end

      # @return [Boolean]
      def loaded?
        @association.loaded?
      end

      # @return [Array<Base>] what is known already
      def target
        @association.target.dup
      end

      # @return [self] that loads again when asked
      def reset
        @association.reset
        self
      end

      # @return [self, Pending] loaded again
      def reload(&block)
        perform(block) { @association.reload && self }
      end

      # Loaded: the list's; else the counter in the owner's row, or a COUNT.
      #
      # @return [Integer, Pending]
      def size(&block)
        perform(block) { @association.size }
      end

      # @return [Integer] after loading
      def length
        @association.read.length
      end

      # @return [Boolean, Pending]
      def any?(*pattern, &block)
        return to_a.any?(*pattern) unless pattern.empty?

        @association.certain? ? perform(block) { !@association.target.empty? } : super
      end

      # @return [Boolean, Pending]
      def empty?(&block)
        @association.certain? ? perform(block) { @association.target.empty? } : super
      end

      # @return [Boolean]
      def include?(record)
        return false unless record.is_a?(model)

        loaded? || record.new_record? ? @association.target.include?(record) : exists?(record.id)
      end
      alias member? include?

      # @return [Base, nil, Array<Base>, Pending]
      def first(count = nil, &block)
        loaded? ? perform(block) { @association.target.first(*count) } : super
      end

      # @return [Base, nil, Array<Base>, Pending]
      def last(count = nil, &block)
        loaded? ? perform(block) { @association.target.last(*count) } : super
      end

      # @return [Base, nil, Array<Base>, Pending]
      def take(count = nil, &block)
        loaded? ? perform(block) { @association.target.first(*count) } : super
      end

      # @return [Base, Array<Base>, nil]
      def [](*index)
        @association.read[*index]
      end

      # @return [Array, Pending] primary keys
      def ids(&block)
        loaded? ? perform(block) { @association.target.map(&:id) } : super
      end

      # A new record for the owner; saving the owner saves it.
      #
      # @yieldparam record [Base]
      # @return [Base, Array<Base>]
      def new(attributes = {}, **pairs)
        return attributes.map { |one| new(one) } if attributes.is_a?(Array)

        record = super
        yield record if block_given?
        record
      end
      alias build new

      # Adds records, and saves them if the owner is saved.
      #
      # @return [self, false] false if one could not be saved
      def <<(*records)
        @association.concat(records) && self
      end
      alias push <<
      alias append <<
      alias concat <<

      # Takes records out: as `dependent:` says, else by taking their foreign key away; through others, the links go.
      #
      # @param records [Array<Base, Object>] or their keys
      # @return [Array<Base>, Pending]
      def delete(*records, &block)
        perform(block) { @association.delete(records) }
      end

      # Destroys records, with their callbacks.
      #
      # @return [Array<Base>, Pending]
      def destroy(*records, &block)
        perform(block) { @association.delete(records, :destroy) }
      end

      # Takes all out, as {#delete} does.
      #
      # @return [self, Pending]
      def clear(&block)
        perform(block) { @association.delete(@association.read) && self }
      end

      # Makes the list be exactly these records.
      #
      # @return [self]
      def replace(records)
        @association.replace(records)
        self
      end

      # Deletes the rows, without callbacks.
      # @return [Integer, Pending]
      def delete_all(&block)
        perform(block) { @plain.delete_all.tap { reset } }
      end

      # @return [Array<Base>, Pending]
      def destroy_all(&block)
        perform(block) { @plain.destroy_all.tap { reset } }
      end

      # @return [Integer, Pending]
      def update_all(changes, &block)
        perform(block) { @plain.update_all(changes).tap { reset } }
      end

      # @return [Boolean]
      def ==(other)
        other.is_a?(Array) || other.is_a?(Collection) ? to_a == other.to_a : super
      end

      # Of what is loaded; else of the rows, without loading.
      #
      # @return [Array<Hash>]
      def as_json(*state, **options)
        loaded? ? @association.target.map { |record| record.as_json(*state, **options) } : super
      end

      # (see #as_json)
      # @return [String, Pending]
      def to_json_bytes(**options, &block)
        loaded? ? perform(block) { JSON.generate(as_json(**options)) } : super
      end

      protected

      def with(name, value)
        @plain.with(name, value)
      end
    end
  end
end
