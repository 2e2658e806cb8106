# frozen_string_literal: true

# Owns what a model says about its attributes beyond its table: types, defaults, other names, normalisation, parts of
# documents, attributes that are written once. It is laid over the table's description (`typed`), so that conditions,
# writes and reading all follow. Refuses to ask the database: everything here is said before the first query.

module AsyncRecord
  # Declarations about attributes.
  module Declarations
    # Values that pass through the program's own cleaning when they are assigned or asked for, not when read.
    class Normalized
      def initialize(kind, steps)
        @kind = kind
        @steps = steps
        freeze
      end

      # @return [Symbol, #cast] what is cleaned
      attr_reader :kind

      # (see Type.cast)
      def cast(value)
        value = Type.cast(@kind, value)
        return value if value.nil?

        @steps.reduce(value) { |result, step| step.call(result) }
      end

      # (see Type.load)
      def load(value)
        Type.load(@kind, value)
      end

      # (see Type.dump)
      def dump(value)
        Type.dump(@kind, value)
      end
    end
    private_constant :Normalized

    # Declares an attribute's type where the column's own says too little, a default, or an attribute that is no column.
    #
    # @example
    #   attribute :settings, :json, default: {}
    #   attribute :price, Cents                     # an object with cast, load, dump (see Type)
    #   attribute :terms, :boolean                  # no column: it lives as long as the record
    # @param type [Symbol, #cast, nil] as in a migration, or registered, or a type itself
    # @param default [Object, Proc]
    # @return [void]
    def attribute(name, type = nil, default: nil)
      declared_kinds[name.to_s] = Type.resolve(type) if type
      declared_defaults[name.to_s] = default unless default.nil?
      forget_schema
    end

    # Gives a column another name, for records and for conditions.
    #
    # @example
    #   alias_attribute :title, :ttl
    #   Post.where(title: "x").order(:title)
    # @return [void]
    def alias_attribute(new_name, name)
      attribute_aliases[new_name.to_s] = name.to_s
      forget_schema
      define_attributes([new_name.to_s])
    end

    # Cleans values when they are assigned, and when they are asked for in a condition.
    #
    # @example
    #   normalizes :email, with: ->(email) { email.strip.downcase }
    # @param with [#call]
    # @return [void]
    def normalizes(*names, with:)
      names.each { |name| normalizers[name.to_s] = [*normalizers[name.to_s], with].freeze }
      forget_schema
    end

    # Makes readers and writers for entries of a document.
    #
    # @example
    #   store_accessor :settings, :theme, :language
    #   user.theme = "dark"                         # user.settings["theme"]
    # @param prefix [Boolean, Symbol] true is the document's name
    # @return [void]
    def store_accessor(document, *keys, prefix: nil, suffix: nil)
      document = document.to_s
      keys.flatten.each do |key|
        name = [affix(prefix, document), key, affix(suffix, document)].compact.join("_")
        define_store_reader(name, document, key.to_s)
      end
    end

    # Names attributes that are written when the record is created and never again.
    #
    # @example
    #   attr_readonly :account_id
    # @return [void]
    def attr_readonly(*names)
      readonly_attributes.concat(names.map(&:to_s)).uniq!
    end

    # @return [Array<String>] the attributes that never change
    def readonly_attributes
      @readonly_attributes ||= inherited_declarations(:readonly_attributes) { [] }
    end

    # @return [Hash{String => String}] other name to column
    def attribute_aliases
      @attribute_aliases ||= inherited_declarations(:attribute_aliases) { {} }
    end

    # @return [Hash{String => Object}]
    # @api private
    def declared_defaults
      @declared_defaults ||= inherited_declarations(:declared_defaults) { {} }
    end

    # @return [Hash{String => Symbol, #cast}] the kinds that `attribute` and `enum` declare
    # @api private
    def declared_kinds
      @declared_kinds ||= inherited_declarations(:declared_kinds) { {} }
    end

    # @return [Hash{String => Array<#call>}]
    # @api private
    def normalizers
      @normalizers ||= inherited_declarations(:normalizers) { {} }
    end

    # @param table [Table] as the database describes it
    # @return [Table] as the model sees it
    # @api private
    def typed(table)
      return table if declared_kinds.empty? && attribute_aliases.empty? && normalizers.empty?

      table.retyped(attribute_aliases) do |column|
        kind = declared_kind(column.name, column)
        kind.equal?(column.kind) ? column : column.retyped(kind)
      end
    end

    # @param columns [Array<String>]
    # @return [Hash{String => Symbol, #cast}] what is declared beside these columns
    # @api private
    def declared_virtual(columns)
      (declared_kinds.keys - columns).to_h { |name| [name, declared_kind(name)] }
    end

    # @return [Symbol, #cast, nil]
    # @api private
    def declared_kind(name, column = nil)
      kind = declared_kinds[name]
      kind = kind.for_column(column) if kind.respond_to?(:for_column)
      kind ||= column&.kind
      steps = normalizers[name]
      steps ? Normalized.new(kind || :any, steps) : kind
    end

    # @return [Boolean] whether values that the driver read have to be read again
    # @api private
    def retypes?(column)
      kind = column.kind
      kind = kind.kind if kind.is_a?(Normalized)
      return false if kind.equal?(column.stored_kind)

      !kind.respond_to?(:plain?) || !kind.plain?
    end

    private

    def inherited_declarations(name)
      superclass.respond_to?(name) ? superclass.public_send(name).dup : yield
    end

    def affix(given, document)
      given == true ? document : given
    end

    def define_store_reader(name, document, key)
      check_free(name)
      define_method(name) { store_entries(document)[key] }
      define_method("#{name}=") { |value| self[document] = store_entries(document).merge(key => value) }
      define_method("#{name}_changed?") { store_entries(document)[key] != (attribute_was(document) || {})[key] }
      define_method("#{name}_was") { (attribute_was(document) || {})[key] }
    end

    # @raise [ArgumentError] if records have a method of this name already
    def check_free(name)
      return unless reserved?(name)

      raise ArgumentError, "records have a method #{name} already; choose another name, or use prefix: or suffix:"
    end
  end
  private_constant :Declarations
end
