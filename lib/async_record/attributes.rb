# frozen_string_literal: true

# Owns a record's values: reading them, and assigning them with a cast to the column's type.
# A loaded record keeps its row in Rust until a value is asked for. Refuses names the table does not have.

require_relative "changes"

module AsyncRecord
  # The values of a record.
  module Attributes
    include Changes

    # What concerns the class.
    module ClassMethods
      # @param name [String, Symbol]
      # @return [Boolean] whether records have this attribute
      def attribute?(name)
        !kind_of_attribute(name.to_s).nil?
      end
    end

    # @param attributes [Hash{Symbol, String => Object}]
    # @raise [UnknownAttribute]
    def initialize(attributes = {}, **pairs)
      @new_record = true
      @attributes = self.class.default_attributes
      @changed = {}
      assign_defaults
      assign_attributes(attributes.empty? ? pairs : attributes.to_h.merge(pairs))
    end

    # @return [Hash{String => Object}] a copy of all values
    def attributes
      values.dup
    end

    # Assigns many attributes through their writers.
    #
    # @param attributes [Hash{Symbol, String => Object}]
    # @return [void]
    # @raise [UnknownAttribute]
    def assign_attributes(attributes)
      attributes.each do |name, value|
        writer = "#{name}="
        respond_to?(writer) ? public_send(writer, value) : write_attribute(name.to_s, value)
      end
    end
    alias attributes= assign_attributes

    # @param name [String, Symbol]
    # @return [Object] the value
    # @raise [MissingAttribute] if the record was loaded without it
    def [](name)
      read_attribute(name.to_s)
    end

    # @param name [String, Symbol]
    def []=(name, value)
      write_attribute(name.to_s, value)
    end

    # @return [Object] the primary key's value
    def id
      values[self.class.primary_key]
    end

    # @param value [Object]
    def id=(value)
      write_attribute(self.class.primary_key, value)
    end

    # @param name [String, Symbol]
    # @return [Boolean] whether the record was loaded with this attribute
    def has_attribute?(name) # rubocop:disable Naming/PredicateName -- the name people know
      values.key?(name.to_s)
    end

    # @param name [String]
    # @return [Object]
    # @raise [MissingAttribute]
    def read_attribute(name)
      value = values.fetch(name) { missing_attribute(name) }
      remember_document(name, value) if value.is_a?(Hash) || value.is_a?(Array)
      value
    end

    # @param name [String]
    # @param value [Object] is cast to the column's type
    # @return [void]
    # @raise [UnknownAttribute]
    def write_attribute(name, value)
      kind = self.class.kind_of_attribute(name) || unknown_attribute(name)
      value = Type.cast(kind, value)
      old = values[name]
      note_change(name, old, value)
      @documents&.delete(name)
      @attributes[name] = value
    end

    # @param name [String, Symbol]
    # @return [Boolean] false for nil, false, 0 and blank text
    def truthy_attribute?(name)
      case value = self[name]
      when nil, false then false
      when Numeric then !value.zero?
      when String then !value.strip.empty?
      else true
      end
    end

    # @return [Boolean] whether both are the same row
    def ==(other)
      super || (other.instance_of?(self.class) && !id.nil? && id == other.id)
    end
    alias eql? ==

    # @return [Integer]
    def hash
      id.nil? ? super : [self.class, id].hash
    end

    # @return [String]
    def inspect
      shown = values.map { |name, value| "#{name}: #{value.inspect}" }
      "#<#{self.class.name || self.class.table_name} #{shown.join(', ')}>"
    end

    # What a relation's JSON holds for this row: times ISO 8601, decimals as strings, binary values in Base64. With
    # options as {Relation#to_json_bytes} takes them; what they include is loaded.
    #
    # @example
    #   post.as_json(only: :title, include: { comments: { only: :body } })
    # @return [Hash{String => Object}]
    def as_json(*arguments)
      options = JsonShape.options_in(arguments)
      return attributes.transform_values { |value| Type.for_json(value) } if options.empty?

      shaped(JsonShape.of(self.class, **options))
    end

    # @return [String]
    def to_json(*state)
      as_json(*state).to_json(*state)
    end

    # @api private
    # @param shape [JsonShape]
    # @return [Hash{String => Object}]
    def shaped(shape)
      shown = shape.only ? shape.only.to_h { |name| [name, self[name]] } : attributes.except(*shape.except)
      shown.transform_values! { |value| Type.for_json(value) }
      shape.branches.each do |name, below|
        target = association(name).read
        shown[name.to_s] = target.is_a?(Array) ? target.map { |one| one.shaped(below) } : target&.shaped(below)
      end
      shown
    end

    # @return [Hash{Symbol => Object}] for pattern matching
    def deconstruct_keys(_keys)
      values.transform_keys(&:to_sym)
    end

    # @api private
    # @param rows [AsyncRecord::Rows]
    # @return [self] a record whose values stay in the rows until asked for
    def load_from(rows, index)
      @rows = rows
      @index = index
      self
    end

    private

    def values
      @attributes || take_values
    end

    # The row is let go, so that one record does not keep a thousand others alive. A batch, which knows only keys, takes
    # its place: a fourth instance variable would make every record a quarter dearer.
    def take_values
      source = @rows
      if source.is_a?(Associations::Lot)
        @attributes = source.rows.hash_at(@index)
        @rows = source.batch || source.make_batch
      else
        @attributes = source.hash_at(@index)
        @rows = nil
      end
      retype_declared
      @attributes
    end

    # What `attribute` declares counts more than what the column says.
    def retype_declared
      retyped = self.class.retyped
      return if retyped.empty?

      retyped.each do |name, kind|
        @attributes[name] = Type.cast(kind, @attributes[name]) if @attributes.key?(name)
      end
    end

    def assign_defaults
      self.class.declared_defaults.each do |name, default|
        write_attribute(name, default.respond_to?(:call) ? default.call : default.dup)
      end
    end

    def missing_attribute(name)
      raise MissingAttribute, "this #{self.class} was loaded without #{name.inspect}" if self.class.attribute?(name)

      unknown_attribute(name)
    end

    def unknown_attribute(name)
      near = self.class.table&.nearest(name)
      raise UnknownAttribute, "#{self.class} has no attribute #{name.inspect}" \
                              "#{near && "; did you mean #{near.inspect}?"}"
    end
  end
  private_constant :Attributes
end
