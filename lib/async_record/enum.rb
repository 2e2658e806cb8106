# frozen_string_literal: true

# Owns attributes with a fixed set of values: numbers or words in the database, words in the program. The words can be
# assigned, asked for and validated; each has a scope, a question and a method that sets it.
# Refuses to guess: a word that is none of them raises, unless validation shall say so (`validate: true`).

module AsyncRecord
  # Attributes with a fixed set of values.
  module Enums
    # The kind of such an attribute. Given as a list, a text column keeps the words themselves, any other their places.
    class Enum
      # @return [Hash{String => Object}] word to what the database keeps
      attr_reader :mapping

      def initialize(attribute, values, lenient)
        @attribute = attribute
        @list = values.is_a?(Hash) ? nil : values.map { |value| value.to_s.freeze }.freeze
        @mapping = @list ? numbered(@list) : values.to_h { |word, stored| [word.to_s.freeze, kept(stored)] }
        @mapping.default_proc = ->(mapping, key) { key.is_a?(Symbol) ? mapping[key.name] : nil }
        @mapping.freeze
        @words = @mapping.invert.freeze
        @lenient = lenient
        freeze
      end

      # @return [Enum] for a column of that kind
      def for_column(column)
        return self unless @list && column && column.stored_kind == :string

        Enum.new(@attribute, @list.to_h { |word| [word, word] }, @lenient)
      end

      # @return [Array<String>]
      def words
        @mapping.keys
      end

      # @return [String, nil]
      # @raise [ArgumentError] for a value that is none
      def cast(value)
        found = word(value)
        return found if found
        return nil if value.nil? || value == ""
        return value if @lenient

        raise ArgumentError, "#{value.inspect} is no #{@attribute}; there are #{words.join(', ')}"
      end

      # A value that the program does not know stays as it is: saving must not lose it.
      def load(value)
        @words.fetch(value, value)
      end

      # @return [Object]
      def dump(value)
        @mapping.fetch(value) { @lenient ? nil : value }
      end

      # @return [Boolean] whether the database keeps the words themselves
      def plain?
        @mapping.all? { |word, stored| word == stored }
      end

      private

      def numbered(list)
        list.each_with_index.to_h
      end

      def kept(stored)
        stored.is_a?(Symbol) ? stored.name : stored
      end

      def word(value)
        text = value.is_a?(Symbol) ? value.name : value
        return text if text.is_a?(String) && @mapping.key?(text)

        @words[text] || (text.is_a?(String) && text.match?(/\A\d+\z/) ? @words[text.to_i] : nil)
      end
    end
    private_constant :Enum

    # Declares an attribute with a fixed set of values.
    #
    # @example
    #   enum :state, draft: 0, live: 1              # or %w[draft live]
    #   enum :mood, %w[happy sad], suffix: true, validate: true, default: "happy"
    #   Post.live; Post.not_live; post.live?; post.live!; Post.states   # => {"draft"=>0, "live"=>1}
    # @param values [Hash, Array] words, or words with what the database keeps
    # @param prefix [Boolean, Symbol] of the methods' names; true is the attribute's
    # @param suffix [Boolean, Symbol]
    # @param scopes [Boolean]
    # @param validate [Boolean, Hash] unknown values are an error of validation instead of an exception
    # @return [void]
    def enum(name, values = nil, prefix: nil, suffix: nil, scopes: true, validate: false, default: nil, **labels)
      values ||= labels
      raise ArgumentError, "enum :#{name} needs its values, as in enum :#{name}, draft: 0, live: 1" if values.empty?

      kind = Enum.new(name, values, validate != false)
      plural = Inflector.pluralize(name.to_s)
      names = kind.words.to_h { |word| [word, [affix(prefix, name), word, affix(suffix, name)].compact.join("_")] }
      check_enum(plural, names.values, scopes)
      attribute(name, kind, default: default)
      define_singleton_method(plural) { enum_mapping(name.to_s) }
      names.each { |word, method| define_enum_methods(name, word, method, scopes) }
      validate_enum(name, kind, validate)
    end

    private

    def enum_mapping(name)
      kind = kind_of_attribute(name)
      kind = kind.kind until kind.is_a?(Enum)
      kind.mapping
    end

    def check_enum(plural, names, scopes)
      names.each do |name|
        raise ArgumentError, "#{name.inspect} cannot be a method; use prefix:" unless name.match?(/\A[a-z_]\w*\z/i)

        ["#{name}?", "#{name}!"].each { |method| check_free(method) }
        taken = scopes ? [name, "not_#{name}"].find { |method| class_method?(method) } : nil
        raise ArgumentError, "the class has a method #{taken} already; use prefix:, suffix: or scopes: false" if taken
      end
      raise ArgumentError, "the class has a method #{plural} already" if class_method?(plural)
    end

    # Kernel's private ones (`open`, `test`) may be hidden, ours not.
    def class_method?(name)
      respond_to?(name) || (respond_to?(name, true) && method(name).owner.name.to_s.start_with?("AsyncRecord"))
    end

    def define_enum_methods(attribute, word, method, scopes)
      define_method("#{method}?") { self[attribute] == word }
      define_method("#{method}!") { |using: nil, &block| update!({ attribute => word }, using: using, &block) }
      return unless scopes

      scope(method.to_sym, -> { where(attribute => word) })
      scope(:"not_#{method}", -> { where.not(attribute => word) })
    end

    def validate_enum(name, kind, validate)
      return unless validate

      options = validate == true ? {} : validate
      validates name, inclusion: { in: kind.words, **options }
    end
  end
  private_constant :Enums
end
