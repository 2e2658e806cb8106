# frozen_string_literal: true

# Owns the messages of a validation, by attribute.

module AsyncRecord
  # What is wrong with a record.
  #
  # @example
  #   user.errors[:name]              # => ["can't be blank"]
  #   user.errors.full_messages       # => ["Name can't be blank"]
  class ValidationErrors
    include Enumerable

    # The key of messages about the record as a whole.
    BASE = :base

    def initialize
      @messages = {}
    end

    # @param attribute [Symbol, String]
    # @param message [String]
    # @return [self]
    def add(attribute, message = "is invalid")
      (@messages[attribute.to_sym] ||= []) << message.to_s
      self
    end

    # @param attribute [Symbol, String]
    # @return [Array<String>]
    def [](attribute)
      @messages.fetch(attribute.to_sym, []).dup
    end

    # @yieldparam attribute [Symbol]
    # @yieldparam message [String]
    # @return [self, Enumerator]
    def each
      return to_enum(:each) unless block_given?

      @messages.each { |attribute, messages| messages.each { |message| yield attribute, message } }
      self
    end

    # @return [Array<String>] sentences
    def full_messages
      map { |attribute, message| full_message(attribute, message) }
    end

    # @return [Array<Symbol>]
    def attribute_names
      @messages.keys
    end

    # @return [Boolean]
    def include?(attribute)
      @messages.key?(attribute.to_sym)
    end

    # @return [Integer]
    def size
      @messages.sum { |_, messages| messages.size }
    end

    # @return [Boolean]
    def empty?
      @messages.empty?
    end

    # @return [void]
    def clear
      @messages.clear
    end

    # @return [Hash{Symbol => Array<String>}]
    def to_hash
      @messages.transform_values(&:dup)
    end

    # @return [String]
    def to_json(*state)
      to_hash.to_json(*state)
    end

    # @return [String]
    def inspect
      "#<AsyncRecord::ValidationErrors #{full_messages.inspect}>"
    end

    private

    def full_message(attribute, message)
      return message if attribute == BASE

      "#{attribute.to_s.delete_suffix('_id').tr('_', ' ').capitalize} #{message}"
    end
  end
end
