# frozen_string_literal: true

# Owns what a record looks like outside of the program: JSON, `inspect`, Marshal, YAML. Refuses to restore anything from
# text: JSON goes one way.

module AsyncRecord
  # Records as text.
  module Serialization
    FILTERED = "[FILTERED]"
    private_constant :FILTERED

    # What concerns the class.
    module ClassMethods
      # Names of attributes that `inspect` does not show: Symbols, or patterns. {AsyncRecord.filter_attributes} is for
      # all models.
      #
      # @example
      #   class User < AsyncRecord::Base
      #     self.filter_attributes = [:password_digest, /token/]
      #   end
      # @return [Array<Symbol, String, Regexp>]
      attr_writer :filter_attributes

      # @return [Array<Symbol, String, Regexp>]
      def filter_attributes
        own = @filter_attributes || (superclass.respond_to?(:filter_attributes) ? superclass.filter_attributes : nil)
        own || AsyncRecord.filter_attributes
      end

      # @return [Boolean] whether `inspect` hides the attribute
      # @api private
      def filtered_attribute?(name)
        filter_attributes.any? { |filter| filter.is_a?(Regexp) ? filter.match?(name) : filter.to_s == name }
      end
    end

    # @return [String] without the values of filtered attributes
    def inspect
      shown = values.map { |name, value| "#{name}: #{shown_value(name, value)}" }
      "#<#{self.class.name || self.class.table_name} #{shown.join(', ')}>"
    end

    # What a relation's JSON holds for this row: times ISO 8601, decimals as strings, binary values in Base64.
    #
    # @example
    #   post.as_json(only: %i[id title], methods: :summary)
    # @param only [Symbol, Array<Symbol>, nil] attributes
    # @param except [Symbol, Array<Symbol>, nil] attributes to leave out
    # @param methods [Symbol, Array<Symbol>, nil] methods whose results are added
    # @param include [Symbol, Array, Hash, nil] associations, each with such options; they are loaded
    # @return [Hash{String => Object}]
    def as_json(*state, **options)
      options = JsonShape.options_in(state, options)
      options.empty? ? json_values(values.keys) : shaped(JsonShape.of(self.class, **options))
    end

    # @return [String]
    def to_json(state = nil, **options)
      as_json(**options).to_json(state)
    end

    # @api private
    # @param shape [JsonShape]
    # @return [Hash{String => Object}]
    def shaped(shape)
      shown = json_values(shape.only ? shape.only & values.keys : values.keys - shape.except)
      shape.methods.each { |name| shown[name.to_s] = Type.for_json(public_send(name)) }
      shape.branches.each do |name, below|
        target = association(name).read
        shown[name.to_s] = target.is_a?(Array) ? target.map { |one| one.shaped(below) } : target&.shaped(below)
      end
      shown
    end

    # Freezes the values too.
    # @return [self]
    def freeze
      pristine
      values.freeze
      changes_hash.freeze
      super
    end

    # Marshal keeps the values and what was changed: not errors, callbacks' state, transactions.
    # @return [Array]
    # @api private
    def marshal_dump
      [values, changes_now, pristine, new_record?, destroyed?]
    end

    # @api private
    def marshal_load(state)
      @attributes, @changed, @pristine, @new_record, @destroyed = state
      self.class.table
    end

    # YAML holds the same as Marshal.
    # @api private
    def encode_with(coder)
      coder["attributes"], coder["changed"], coder["pristine"], coder["new_record"], coder["destroyed"] = marshal_dump
    end

    # @api private
    def init_with(coder)
      marshal_load(%w[attributes changed pristine new_record destroyed].map { |key| coder[key] })
    end

    private

    def json_values(names)
      values.slice(*names).transform_values { |value| Type.for_json(value) }
    end

    def shown_value(name, value)
      value.nil? || !self.class.filtered_attribute?(name) ? value.inspect : FILTERED
    end
  end
  private_constant :Serialization
end
