# frozen_string_literal: true

# Owns the checks a model declares and when they run. The checks themselves are in validations/checks, the messages in
# ValidationErrors. Refuses to replace the database's constraints: uniqueness in particular is only sure with an index.

require_relative "validations/errors"
require_relative "validations/checks"

module AsyncRecord
  # Checks records before they are stored.
  module Validations
    # One declared check of one attribute.
    Rule = Struct.new(:attribute, :check, :options, keyword_init: true) do
      def run(record)
        return unless due?(record)

        value = attribute && record.public_send(attribute)
        return if skipped?(value)

        check.call(record, attribute, value, options)
      end

      private

      def due?(record)
        on = options[:on]
        return false if on && on != (record.new_record? ? :create : :update)

        (options[:if].nil? || ask(record, options[:if])) && (options[:unless].nil? || !ask(record, options[:unless]))
      end

      def skipped?(value)
        attribute && ((options[:allow_nil] && value.nil?) || (options[:allow_blank] && Checks.blank?(value)))
      end

      def ask(record, question)
        question.is_a?(Symbol) ? record.send(question) : record.instance_exec(&question)
      end
    end
    private_constant :Rule

    COMMON = %i[allow_nil allow_blank if unless on message].freeze
    private_constant :COMMON

    # What a model declares.
    module ClassMethods
      # Declares checks of attributes.
      #
      # @example
      #   validates :title, presence: true, length: { maximum: 200 }
      #   validates :age, numericality: { only_integer: true, greater_than: 0 }, allow_nil: true
      #   validates :slug, format: { with: /\A[a-z-]+\z/ }, uniqueness: { scope: :user_id }
      # @return [void]
      def validates(*attributes, **checks)
        common, named = checks.partition { |key, _| COMMON.include?(key) }.map(&:to_h)
        raise ArgumentError, "validates needs at least one check" if named.empty?

        attributes.product(named.to_a).each do |attribute, (name, options)|
          next if options == false

          rules << Rule.new(attribute: attribute, check: Checks.named(name),
                            options: common.merge(Checks.options(name, options)).freeze)
        end
      end

      # Declares a check by a method or a block, which adds to `errors`.
      #
      # @example
      #   validate { errors.add(:ends_on, "is before the start") if ends_on < starts_on }
      # @return [void]
      def validate(*methods, **options, &block)
        actions = methods + [block].compact
        raise ArgumentError, "validate needs a method name or a block" if actions.empty?

        actions.each do |action|
          check = lambda do |record, *|
            action.is_a?(Symbol) ? record.send(action) : record.instance_exec(&action)
          end
          rules << Rule.new(attribute: nil, check: check, options: options.freeze)
        end
      end

      # @api private
      # @return [Array<Rule>] the superclass's first
      def all_rules
        (superclass.respond_to?(:all_rules) ? superclass.all_rules : []) + rules
      end

      private

      def rules
        @rules ||= []
      end
    end

    # @return [ValidationErrors] what the last validation found
    def errors
      @errors ||= ValidationErrors.new
    end

    # Runs the checks. Uniqueness asks the database, so this may wait.
    #
    # @return [Boolean, Pending]
    def valid?(&block)
      in_style(block) { validate_now }
    end
    alias validate valid?

    # @return [Boolean]
    def invalid?
      !valid?
    end

    private

    def validate_now
      errors.clear
      run_callbacks(:validation) do
        self.class.all_rules.each { |rule| rule.run(self) }
        true
      end && errors.empty?
    end
  end
  private_constant :Validations
end
