# frozen_string_literal: true

# Owns the checks a model declares and when they run. The checks themselves are in validations/checks, the messages in
# ValidationErrors. Refuses to replace the database's constraints: uniqueness in particular is only sure with an index.

require_relative "validations/errors"
require_relative "validations/validator"
require_relative "validations/checks"

module AsyncRecord
  # Checks records before they are stored.
  module Validations
    # One declared check of one attribute, or of the whole record.
    Rule = Struct.new(:attribute, :check, :options, keyword_init: true) do
      def run(record, context)
        return unless due?(record, context)

        value = attribute && record.public_send(attribute)
        return if skipped?(value)

        before = record.errors.size
        check.call(record, attribute, value, options)
        refuse(record, before) if options[:strict]
      end

      private

      def due?(record, context)
        on = options[:on]
        (on.nil? || Array(on).include?(context)) && Questions.hold?(record, options[:if], options[:unless])
      end

      def skipped?(value)
        attribute && ((options[:allow_nil] && value.nil?) || (options[:allow_blank] && Checks.blank?(value)))
      end

      def refuse(record, before)
        message = record.errors.full_messages[before]
        return unless message

        raise options[:strict] == true ? StrictValidationFailed : options[:strict], message
      end
    end
    private_constant :Rule

    COMMON = %i[allow_nil allow_blank if unless on message strict].freeze
    private_constant :COMMON

    # What a model declares.
    module ClassMethods
      # Declares checks of attributes: `presence`, `absence`, `length`, `format`, `numericality`, `comparison`,
      # `inclusion`, `exclusion`, `uniqueness`, `confirmation`, `acceptance`, and one's own ({EachValidator}).
      #
      # @example
      #   validates :title, presence: true, length: { maximum: 200 }
      #   validates :age, numericality: { only_integer: true, greater_than: 0 }, allow_nil: true
      #   validates :slug, format: { with: /\A[a-z-]+\z/ }, uniqueness: { scope: :user_id }
      #   validates :ends_on, comparison: { greater_than: :starts_on }, on: :publish
      # @param checks [Hash] with `allow_nil:`, `allow_blank:`, `if:`, `unless:`, `on:`, `message:`, `strict:`
      # @return [void]
      def validates(*attributes, **checks)
        common, named = checks.partition { |key, _| COMMON.include?(key) }.map(&:to_h)
        raise ArgumentError, "validates needs at least one check" if named.empty?

        attributes.product(named.to_a).each do |attribute, (name, options)|
          next if options == false

          prepare_check(name, attribute)
          add_rule rule_for(attribute.to_sym, name, options, common)
        end
      end

      # {validates} whose failure raises: for what only a mistake of the program can cause.
      # @return [void]
      def validates!(*attributes, **checks)
        validates(*attributes, **checks, strict: true)
      end

      # Declares a check by a method or a block, which adds to `errors`.
      #
      # @example
      #   validate { errors.add(:ends_on, "is before the start") if ends_on < starts_on }
      # @return [void]
      def validate(*methods, **options, &block)
        actions = methods + [block].compact
        raise ArgumentError, "validate needs a method name or a block" if actions.empty?

        check_options(:validate, options)
        actions.each do |action|
          add_rule Rule.new(attribute: nil, check: ->(record, *) { Questions.ask(record, action) }, options: options)
        end
      end

      # Declares checks by classes; see {Validator}.
      #
      # @param validators [Array<Class>]
      # @param options [Hash] those of `validates`, and those that the classes take
      # @return [void]
      def validates_with(*validators, **options)
        common, own = options.partition { |key, _| COMMON.include?(key) }.map(&:to_h)
        validators.each do |validator|
          check = validator.new(**own)
          add_rule Rule.new(attribute: nil, check: ->(record, *) { check.validate(record) }, options: common)
        end
      end

      # Declares a check of attributes by a block.
      #
      # @example
      #   validates_each(:name, :city) { |record, attribute, value| record.errors.add(attribute, "…") if value == "?" }
      # @return [void]
      def validates_each(*attributes, **options, &block)
        raise ArgumentError, "validates_each needs a block" unless block

        check_options(:validates_each, options)
        attributes.each do |attribute|
          check = ->(record, name, value, _) { block.call(record, name, value) }
          add_rule Rule.new(attribute: attribute.to_sym, check: check, options: options)
        end
      end

      # @api private
      # @return [Array<Rule>] the superclass's first
      def all_rules
        @all_rules ||= ((superclass.respond_to?(:all_rules) ? superclass.all_rules : []) + (@rules || [])).freeze
      end

      private

      def add_rule(rule)
        (@rules ||= []) << rule
        forget_rules
      end

      def forget_rules
        @all_rules = nil
        subclasses.each { |subclass| subclass.send(:forget_rules) }
      end

      def rule_for(attribute, name, options, common)
        check = Checks.named(name)
        own = options.is_a?(Hash) ? options : {}
        own = Checks.options(name, options) if check
        check ||= own_check(name, own, common)
        Rule.new(attribute: attribute, check: check, options: common.merge(own).freeze)
      end

      def own_check(name, own, common)
        validator = EachValidator.named(name, self, Checks.names)
        validator = validator.new(**common.slice(:message), **own.except(*(COMMON - [:message])))
        ->(record, attribute, value, _) { validator.validate_each(record, attribute, value) }
      end

      def check_options(method, options)
        unknown = options.keys - COMMON
        raise ArgumentError, "#{method} takes no #{unknown.first.inspect}" unless unknown.empty?
      end

      # The fields that exist for the check alone.
      def prepare_check(name, attribute)
        case name
        when :confirmation then virtual_field("#{attribute}_confirmation")
        when :acceptance then virtual_field(attribute.to_s) unless known_table&.[](attribute)
        end
      end

      # Below the readers of columns, should the table turn out to have one.
      def virtual_field(name)
        return if method_defined?(name)

        @fields ||= Module.new.tap { |fields| include fields }
        @fields.attr_accessor(name.to_sym)
      end
    end

    # @return [ValidationErrors] what the last validation found
    def errors
      @errors ||= ValidationErrors.new(self)
    end

    # Runs the checks. Uniqueness asks the database, so this may wait.
    #
    # @param context [Symbol, nil] for checks declared with `on:`; nil is :create or :update
    # @return [Boolean, Pending]
    def valid?(context = nil, &block)
      in_style(block) { validate_now(context) }
    end
    alias validate valid?

    # @return [Boolean]
    def invalid?(context = nil)
      !valid?(context)
    end

    # @return [true]
    # @raise [RecordInvalid]
    def validate!(context = nil)
      valid?(context) || raise(RecordInvalid, self)
    end

    private

    def validate_now(context = nil)
      context ||= new_record? ? :create : :update
      @errors&.clear
      run_callbacks(:validation, context) do
        self.class.all_rules.each { |rule| rule.run(self, context) }
        true
      end && (@errors.nil? || @errors.empty?)
    end
  end
  private_constant :Validations
end
