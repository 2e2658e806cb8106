# frozen_string_literal: true

# Owns what a validation found: a message and its type for each error, by attribute.

module AsyncRecord
  # What is wrong with a record.
  #
  # @example
  #   user.errors[:name]              # => ["can't be blank"]
  #   user.errors.full_messages       # => ["Name can't be blank"]
  #   user.errors.of_kind?(:name, :blank)
  class ValidationErrors
    include Enumerable

    # The key of messages about the record as a whole.
    BASE = :base

    # rubocop:disable Style/FormatStringToken -- the form people know

    # The messages of types. `%{count}`, `%{value}`, `%{attribute}` stand for the details of an error.
    MESSAGES = {
      blank: "can't be blank", present: "must be blank", invalid: "is invalid", taken: "has already been taken",
      inclusion: "is not included in the list", exclusion: "is reserved", accepted: "must be accepted",
      confirmation: "doesn't match %{attribute}", required: "must exist",
      too_short: "is too short (minimum is %{count} characters)",
      too_long: "is too long (maximum is %{count} characters)",
      wrong_length: "is the wrong length (should be %{count} characters)",
      not_a_number: "is not a number", not_an_integer: "must be an integer", odd: "must be odd", even: "must be even",
      in: "must be in %{count}", greater_than: "must be greater than %{count}",
      greater_than_or_equal_to: "must be greater than or equal to %{count}", less_than: "must be less than %{count}",
      less_than_or_equal_to: "must be less than or equal to %{count}", equal_to: "must be equal to %{count}",
      other_than: "must be other than %{count}"
    }.freeze
    # rubocop:enable Style/FormatStringToken

    # One error.
    Found = Struct.new(:attribute, :type, :message, :options) do
      # @return [String] a sentence
      def full_message
        attribute == BASE ? message : "#{ValidationErrors.human(attribute)} #{message}"
      end

      # @return [Hash] the type under `:error`, and what it was about
      def details
        { error: type, **options }
      end
    end
    private_constant :Found

    # @return [String] an attribute's name as people write it
    # @api private
    def self.human(attribute)
      attribute.to_s.delete_suffix("_id").tr("_", " ").capitalize
    end

    # @param record [Base, nil]
    def initialize(record = nil)
      @record = record
      @found = []
    end

    # @example
    #   errors.add(:name, "is strange")
    #   errors.add(:name, :too_short, count: 3)
    #   errors.add(:base, :locked, message: "may not be changed now")
    # @param attribute [Symbol, String]
    # @param type [Symbol, String] a type of {MESSAGES} or of one's own, or a message
    # @param message [String, Proc, nil] instead of the type's own; a Proc gets the record and the details
    # @param options [Hash] details
    # @return [self]
    def add(attribute, type = :invalid, message: nil, **options)
      attribute = attribute.to_sym
      details = { attribute: ValidationErrors.human(attribute), **options }
      text = message || (type.is_a?(Symbol) ? MESSAGES.fetch(type) { type.name.tr("_", " ") } : type)
      text = text.call(@record, details) if text.respond_to?(:call)
      @found << Found.new(attribute, type, filled(text.to_s, details), options)
      self
    end

    # @param attribute [Symbol, String]
    # @return [Array<String>]
    def [](attribute)
      of(attribute).map(&:message)
    end
    alias messages_for []

    # @yieldparam attribute [Symbol]
    # @yieldparam message [String]
    # @return [self, Enumerator]
    def each
      return to_enum(:each) unless block_given?

      @found.each { |found| yield found.attribute, found.message }
      self
    end

    # @return [Array<String>] sentences
    def full_messages
      @found.map(&:full_message)
    end
    alias to_a full_messages

    # @return [Array<String>] sentences about one attribute
    def full_messages_for(attribute)
      of(attribute).map(&:full_message)
    end

    # @return [Hash{Symbol => Array<Hash>}] `{ name: [{ error: :too_short, count: 3 }] }`
    def details
      @found.group_by(&:attribute).transform_values { |list| list.map(&:details) }
    end

    # @param type [Symbol, String] a type, or a message
    # @return [Boolean] whether the attribute has such an error
    def of_kind?(attribute, type = :invalid)
      of(attribute).any? { |found| found.type == type || found.message == type }
    end

    # @return [Boolean] {#of_kind?}, with these details
    def added?(attribute, type = :invalid, **options)
      of(attribute).any? do |found|
        (found.type == type || found.message == type) && options.all? { |key, value| found.options[key] == value }
      end
    end

    # @return [Array<Symbol>]
    def attribute_names
      @found.map(&:attribute).uniq
    end

    # @return [Boolean]
    def include?(attribute)
      !of(attribute).empty?
    end
    alias key? include?

    # @return [Array<String>] the messages taken away
    def delete(attribute)
      gone = of(attribute)
      @found -= gone
      gone.map(&:message)
    end

    # Takes over what another record's validation found.
    #
    # @param other [ValidationErrors]
    # @param prefix [String, nil] before the attributes' names
    # @return [self]
    def merge!(other, prefix: nil)
      other.found.each do |found|
        name = prefix ? :"#{prefix}#{found.attribute}" : found.attribute
        @found << Found.new(name, found.type, found.message, found.options)
      end
      self
    end

    # @return [Integer]
    def size
      @found.size
    end
    alias count size

    # @return [Boolean]
    def empty?
      @found.empty?
    end
    alias none? empty?

    # @return [Boolean]
    def any?(&block)
      block ? super : !empty?
    end

    # @return [void]
    def clear
      @found = []
    end

    # @param full [Boolean] whether the messages are sentences
    # @return [Hash{Symbol => Array<String>}]
    def to_hash(full = false) # rubocop:disable Style/OptionalBooleanParameter -- as ActiveModel has it
      @found.group_by(&:attribute).transform_values { |list| list.map(&(full ? :full_message : :message)) }
    end
    alias messages to_hash

    # @return [Hash{Symbol => Array<String>}]
    def as_json(*_options)
      to_hash
    end

    # @return [String]
    def to_json(*state)
      to_hash.to_json(*state)
    end

    # @return [String]
    def inspect
      "#<AsyncRecord::ValidationErrors #{full_messages.inspect}>"
    end

    protected

    attr_reader :found

    private

    def of(attribute)
      @found.select { |found| found.attribute == attribute.to_sym }
    end

    def filled(text, details)
      text.gsub(/%\{(\w+)\}/) { |whole| details.key?($1.to_sym) ? details[$1.to_sym].to_s : whole }
    end
  end
end
