# frozen_string_literal: true

# Owns the built-in checks. Each takes the record, the attribute, its value and the options, and adds messages.

require "bigdecimal"

module AsyncRecord
  module Validations
    # The checks behind `validates`.
    module Checks
      # The option a check takes when it is given a plain value: `length: 3..20`, `format: /…/`, `inclusion: %w[a b]`.
      SHORT = { length: :in, format: :with, inclusion: :in, exclusion: :in }.freeze
      OPTIONS = {
        presence: [], absence: [], length: %i[minimum maximum is in], format: %i[with without],
        inclusion: [:in], exclusion: [:in], uniqueness: %i[scope case_sensitive],
        numericality: %i[only_integer greater_than greater_than_or_equal_to less_than less_than_or_equal_to equal_to
                         other_than in odd even]
      }.freeze
      GENERAL = %i[message allow_nil allow_blank if unless on].freeze
      COMPARISONS = {
        greater_than: :>, greater_than_or_equal_to: :>=, less_than: :<, less_than_or_equal_to: :<=, equal_to: :==,
        other_than: :!=
      }.freeze
      INTEGER = /\A[+-]?\d+\z/
      NUMBER = /\A[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\z/
      private_constant :SHORT, :OPTIONS, :GENERAL, :COMPARISONS, :INTEGER, :NUMBER

      class << self
        # @return [Method]
        # @raise [ArgumentError] for a check that does not exist
        def named(name)
          return method(name) if OPTIONS.key?(name)

          raise ArgumentError, "there is no check #{name.inspect}; there are #{OPTIONS.keys.join(', ')}"
        end

        # @return [Hash] the options of one check
        # @raise [ArgumentError] for an option it does not take
        def options(name, given)
          given = {} if given == true
          given = { SHORT.fetch(name) => given } unless given.is_a?(Hash)
          unknown = given.keys - OPTIONS.fetch(name) - GENERAL
          raise ArgumentError, "#{name} takes no #{unknown.first.inspect}" unless unknown.empty?

          given
        end

        # @return [Boolean]
        def blank?(value)
          case value
          when nil, false then true
          when String then value.match?(/\A[[:space:]]*\z/)
          when Array, Hash then value.empty?
          else false
          end
        end

        def presence(record, attribute, value, options)
          add(record, attribute, options, "can't be blank") if blank?(value)
        end

        def absence(record, attribute, value, options)
          add(record, attribute, options, "must be blank") unless blank?(value)
        end

        def length(record, attribute, value, options)
          size = value.nil? ? 0 : size_of(value)
          minimum, maximum = length_limits(options)
          exact = options[:is]
          add(record, attribute, options, "is the wrong length (should be #{count(exact)})") if exact && size != exact
          add(record, attribute, options, "is too short (minimum is #{count(minimum)})") if minimum && size < minimum
          add(record, attribute, options, "is too long (maximum is #{count(maximum)})") if maximum && size > maximum
        end

        def format(record, attribute, value, options)
          text = value.to_s
          good = options[:with].nil? || options[:with].match?(text)
          bad = options[:without]&.match?(text)
          add(record, attribute, options, "is invalid") if !good || bad
        end

        def inclusion(record, attribute, value, options)
          add(record, attribute, options, "is not included in the list") unless member?(record, value, options)
        end

        def exclusion(record, attribute, value, options)
          add(record, attribute, options, "is reserved") if member?(record, value, options)
        end

        def numericality(record, attribute, value, options)
          number = number(value)
          return add(record, attribute, options, "is not a number") if number.nil?
          return add(record, attribute, options, "must be an integer") if options[:only_integer] && !whole?(value,
                                                                                                            number)

          compare(record, attribute, number, options)
        end

        def uniqueness(record, attribute, value, options)
          relation = Relation.new(record.class).where(same_value(record, attribute, value, options))
          Array(options[:scope]).each { |name| relation = relation.where(name => record[name]) }
          relation = relation.not(record.class.primary_key => record.id) unless record.new_record?
          add(record, attribute, options, "has already been taken") if relation.any?
        end

        private

        def add(record, attribute, options, message)
          record.errors.add(attribute, options[:message] || message)
        end

        def count(number)
          "#{number} character#{'s' unless number == 1}"
        end

        def size_of(value)
          value.respond_to?(:length) ? value.length : value.to_s.length
        end

        def length_limits(options)
          range = options[:in]
          return options.values_at(:minimum, :maximum) unless range

          last = range.end && (range.exclude_end? ? range.end - 1 : range.end)
          [range.begin, last]
        end

        def member?(record, value, options)
          list = options.fetch(:in)
          list = record.instance_exec(&list) if list.is_a?(Proc)
          list.is_a?(Range) ? list.cover?(value) : list.include?(value)
        end

        def number(value)
          case value
          when Float then value.finite? ? value : nil
          when Numeric then value
          when String then NUMBER.match?(value) ? BigDecimal(value) : nil
          end
        end

        def whole?(value, number)
          value.is_a?(String) ? INTEGER.match?(value) : number == number.to_i
        end

        def compare(record, attribute, number, options)
          COMPARISONS.each do |name, operator|
            limit = options[name]
            limit = record.instance_exec(&limit) if limit.is_a?(Proc)
            next if limit.nil? || number.public_send(operator, limit)

            add(record, attribute, options, "must be #{name.to_s.tr('_', ' ')} #{limit}")
          end
          compare_kind(record, attribute, number, options)
        end

        def compare_kind(record, attribute, number, options)
          add(record, attribute, options, "must be odd") if options[:odd] && number.to_i.even?
          add(record, attribute, options, "must be even") if options[:even] && number.to_i.odd?
          range = options[:in]
          add(record, attribute, options, "must be in #{range}") if range && !range.cover?(number)
        end

        def same_value(record, attribute, value, options)
          return { attribute => value } unless options[:case_sensitive] == false && value

          column = record.class.database.dialect.qualify(record.class.table_name, attribute)
          Sql.new("LOWER(#{column}) = LOWER(?)", [value])
        end
      end
    end
    private_constant :Checks
  end
end
