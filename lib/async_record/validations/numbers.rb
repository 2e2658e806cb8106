# frozen_string_literal: true

# Owns the checks that compare: `numericality`, which judges what was assigned and not what became of it, and
# `comparison`, which takes everything that has an order.

module AsyncRecord
  module Validations
    # Checks by comparing.
    module Numbers
      OPERATORS = {
        greater_than: :>, greater_than_or_equal_to: :>=, less_than: :<, less_than_or_equal_to: :<=, equal_to: :==,
        other_than: :!=
      }.freeze
      INTEGER = /\A\s*[+-]?\d+\s*\z/
      NUMBER = /\A\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*\z/
      private_constant :OPERATORS, :INTEGER, :NUMBER

      # (see Checks)
      def numericality(record, attribute, value, options)
        value = record.read_attribute_before_type_cast(attribute) if record.has_attribute?(attribute)
        number = number(value)
        return add(record, attribute, options, :not_a_number, value: value) if number.nil?

        whole = options[:only_integer]
        whole = Questions.ask(record, whole) if whole.is_a?(Symbol) || whole.is_a?(Proc)
        return add(record, attribute, options, :not_an_integer, value: value) if whole && !whole?(value, number)

        compare(record, attribute, number, options)
        compare_kind(record, attribute, number, options)
      end

      # (see Checks)
      def comparison(record, attribute, value, options)
        return add(record, attribute, options, :blank) if value.nil?

        compare(record, attribute, value, options)
      rescue ArgumentError, NoMethodError
        add(record, attribute, options, :invalid, value: value)
      end

      private

      def number(value)
        case value
        when Float then value.finite? ? value : nil
        when Numeric then value
        when String then NUMBER.match?(value) ? BigDecimal(value.strip.delete_suffix(".")) : nil
        end
      end

      def whole?(value, number)
        value.is_a?(String) ? INTEGER.match?(value) : number == number.to_i
      end

      def compare(record, attribute, value, options)
        OPERATORS.each do |name, operator|
          limit = resolved(record, options[name])
          next if limit.nil? || value.public_send(operator, limit)

          add(record, attribute, options, name, count: limit, value: value)
        end
      end

      def compare_kind(record, attribute, number, options)
        add(record, attribute, options, :odd) if options[:odd] && number.to_i.even?
        add(record, attribute, options, :even) if options[:even] && number.to_i.odd?
        range = options[:in]
        add(record, attribute, options, :in, count: range) if range && !range.cover?(number)
      end
    end
    private_constant :Numbers
  end
end
