# frozen_string_literal: true

# Owns the classes for checks of the program's own, and how `validates email: true` finds `EmailValidator`.

module AsyncRecord
  # A check of whole records, for `validates_with`.
  #
  # @example
  #   class Dates < AsyncRecord::Validator
  #     def validate(record)
  #       record.errors.add(:ends_on, "is before the start") if record.ends_on < record.starts_on
  #     end
  #   end
  #   class Event < AsyncRecord::Base
  #     validates_with Dates
  #   end
  class Validator
    # @return [Hash] the options given where it is used
    attr_reader :options

    # @param options [Hash]
    def initialize(**options)
      @options = options.freeze
    end

    # @param record [Base]
    # @return [void]
    def validate(record)
      raise NotImplementedError, "#{self.class}#validate(record) is missing"
    end
  end

  # A check of attributes, for `validates`.
  #
  # @example
  #   class EmailValidator < AsyncRecord::EachValidator
  #     def validate_each(record, attribute, value)
  #       record.errors.add(attribute, :invalid, message: options[:message]) unless value.to_s.include?("@")
  #     end
  #   end
  #   class User < AsyncRecord::Base
  #     validates :email, email: true                 # or email: { message: "…" }
  #   end
  class EachValidator < Validator
    # @param record [Base]
    # @param attribute [Symbol]
    # @param value [Object]
    # @return [void]
    def validate_each(record, attribute, value)
      raise NotImplementedError, "#{self.class}#validate_each(record, attribute, value) is missing"
    end

    # @api private
    # @param name [Symbol] as in `validates email: true`
    # @return [Class]
    # @raise [ArgumentError] if there is no such class
    def self.named(name, model, known)
      constant = "#{Inflector.camelize(name.to_s)}Validator"
      [model, Object].each do |scope|
        found = scope.const_get(constant) if scope.const_defined?(constant)
        return found if found.is_a?(Class) && found.method_defined?(:validate_each)
      end
      raise ArgumentError, "there is no check #{name.inspect} and no class #{constant} < AsyncRecord::EachValidator; " \
                           "there are #{known.join(', ')}"
    end
  end
end
