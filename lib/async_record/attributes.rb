# frozen_string_literal: true

# Owns a record's values: reading them, and assigning them with a cast to the column's type.
# A loaded record keeps its row in Rust until a value is asked for. Refuses names the table does not have.

require_relative "changes"

module AsyncRecord
  # The values of a record.
  module Attributes
    include Changes

    WRITER = /\A[[:alpha:]_]\w*=\z/
    private_constant :WRITER

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
      run_hooks(:after_initialize)
    end

    # A copy is a new record: it has no key and no times yet, and shares no value with the first one.
    def initialize_dup(other)
      super
      @attributes = other.attributes.to_h { |name, value| [name, copy_of(name, value)] }
      forget_row
      run_hooks(:after_initialize)
    end

    # @return [Hash{String => Object}] a copy of all values
    def attributes
      values.dup
    end

    # Assigns many attributes through their writers. Nothing is left out quietly: a name that is none raises.
    #
    # @param attributes [Hash{Symbol, String => Object}]
    # @return [void]
    # @raise [UnknownAttribute]
    def assign_attributes(attributes)
      raise ArgumentError, "attributes are a Hash, not a #{attributes.class}" unless attributes.respond_to?(:each_pair)

      attributes.each_pair do |name, value|
        writer = writer_of(name)
        writer ? public_send(writer, value) : write_attribute(name.to_s, value)
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

    # @return [Object, Array, nil] the primary key's value; one for each column of a composite key
    def id
      key = self.class.record_key
      key.is_a?(Array) ? values.values_at(*key) : values[key]
    end

    # @param value [Object, Array]
    def id=(value)
      columns = self.class.key_columns
      parts = columns.one? ? [value] : value
      columns.zip(parts) { |column, part| write_attribute(column, part) }
    end

    # @return [String, nil] the key as a URL holds it
    def to_param
      Array(id).join("_") if persisted? && key?
    end

    # @param name [String, Symbol]
    # @return [Boolean] whether the record was loaded with this attribute
    def has_attribute?(name) # rubocop:disable Naming/PredicateName -- the name people know
      values.key?(real_name(name))
    end

    # @param name [String]
    # @return [Object]
    # @raise [MissingAttribute]
    def read_attribute(name)
      values.fetch(name) { read_other(name) }
    end

    # @param name [String]
    # @param value [Object] is cast to the column's type
    # @return [void]
    # @raise [UnknownAttribute]
    def write_attribute(name, value)
      kind = self.class.kind_of_attribute(name) || (return write_other(name, value))
      refuse_readonly(name)
      cast = Type.cast(kind, value)
      keep_raw(name, value, cast)
      track(name, values[name], cast)
      @attributes[name] = cast
    end

    # @param name [String, Symbol]
    # @return [Object] what was assigned, before the cast; of what was not assigned, the value
    def read_attribute_before_type_cast(name)
      name = real_name(name)
      @raw&.key?(name) ? @raw[name] : read_attribute(name)
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
      super || (other.instance_of?(self.class) && key? && id == other.id)
    end
    alias eql? ==

    # @return [Integer]
    def hash
      key? ? [self.class, id].hash : super
    end

    # @return [String] the same, so that a record is an answer as a relation is
    def to_json_bytes(**options)
      to_json(nil, **options)
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

    # @api private
    # @return [void]
    def loaded
      self.class.loading_hooks.each { |hook| hook.run(self) }
    end

    private

    def values
      @attributes || (@attributes = typed_row(@rows, @index))
    end

    def typed_row(rows, index)
      self.class.complete_row(rows.hash_at(index))
    end

    # @return [Boolean] whether the record has its whole key
    def key?
      key = id
      key.is_a?(Array) ? key.none?(&:nil?) : !key.nil?
    end

    # @return [Symbol, String, nil] the method that assigns it. Only names of methods are remembered: others come from
    #   clients, and without end.
    def writer_of(name)
      known = self.class.writers[name]
      return known if known && respond_to?(known)
      return unless assigned_by_method?(name)

      writer = "#{name}="
      self.class.method_defined?(writer) ? self.class.writers[name] = writer.to_sym : writer
    end

    # A writer that records have anyway is not what a column of its name means.
    def assigned_by_method?(name)
      writer = "#{name}="
      return writer == "id=" && !self.class.attribute?("id") if Base.method_defined?(writer)

      WRITER.match?(writer) && respond_to?(writer)
    end

    # @return [Hash] the document's entries
    def store_entries(document)
      entries = self[document]
      return entries || {} if entries.nil? || entries.is_a?(Hash)

      raise ArgumentError, "#{document} is no document but a #{entries.class}; say attribute :#{document}, :json"
    end

    def real_name(name)
      name = name.to_s
      self.class.attribute_aliases.fetch(name, name)
    end

    def read_other(name)
      real = real_name(name)
      real == name ? missing_attribute(name) : read_attribute(real)
    end

    def write_other(name, value)
      real = real_name(name)
      real == name ? unknown_attribute(name) : write_attribute(real, value)
    end

    # Text assigned to a number is judged as it came, not by the number that it begins with.
    def keep_raw(name, value, cast)
      if value.is_a?(String) && !cast.is_a?(String) then (@raw ||= {})[name] = value
      else @raw&.delete(name)
      end
    end

    def refuse_readonly(name)
      return if new_record? || !self.class.readonly_attributes.include?(name)

      raise ReadonlyAttribute, "#{self.class}##{name} is written when the record is created, and never again"
    end

    def forget_row
      @rows = @index = @pristine = @raw = @saved_changes = @errors = nil
      @destroyed = false
      @new_record = true
      stamps = self.class.timestamp_columns(:create)
      [*self.class.primary_key, *stamps, *self.class.used_locking_column].each do |name|
        @attributes[name] = self.class.default_attributes[name]
      end
      @changed = @attributes.slice(*self.class.column_names).transform_values { nil }
                            .except(*self.class.primary_key, *stamps)
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
