# frozen_string_literal: true

# Owns the built-in checks. Each takes the record, the attribute, its value and the options, and adds errors.

require "bigdecimal"
require_relative "numbers"

module AsyncRecord
  module Validations
    # The checks behind `validates`.
    module Checks
      # The option a check takes when it is given a plain value: `length: 3..20`, `format: /…/`, `inclusion: %w[a b]`.
      SHORT = { length: :in, format: :with, inclusion: :in, exclusion: :in, acceptance: :accept }.freeze
      COMPARED = %i[greater_than greater_than_or_equal_to less_than less_than_or_equal_to equal_to other_than].freeze
      OPTIONS = {
        presence: [], absence: [], length: %i[minimum maximum is in within too_short too_long wrong_length],
        format: %i[with without], inclusion: %i[in within], exclusion: %i[in within],
        uniqueness: %i[scope case_sensitive conditions], confirmation: [:case_sensitive], acceptance: [:accept],
        comparison: COMPARED, numericality: %i[only_integer in odd even] + COMPARED
      }.freeze
      GENERAL = %i[message allow_nil allow_blank if unless on strict].freeze
      ACCEPTED = ["1", true].freeze
      private_constant :SHORT, :COMPARED, :OPTIONS, :GENERAL, :ACCEPTED

      extend Numbers

      class << self
        # @return [Method, nil] nil for a check that is not built in
        def named(name)
          method(name) if OPTIONS.key?(name)
        end

        # @return [Array<Symbol>]
        def names
          OPTIONS.keys
        end

        # @return [Hash] the options of one check
        # @raise [ArgumentError] for an option it does not take
        def options(name, given)
          given = {} if given == true
          given = { SHORT.fetch(name) { misused(name, given) } => given } unless given.is_a?(Hash)
          unknown = given.keys - OPTIONS.fetch(name) - GENERAL
          raise ArgumentError, "#{name} takes no #{unknown.first.inspect}" unless unknown.empty?

          given.key?(:within) ? { in: given[:within], **given } : given
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
          add(record, attribute, options, :blank) if blank?(value)
        end

        def absence(record, attribute, value, options)
          add(record, attribute, options, :present) unless blank?(value)
        end

        def length(record, attribute, value, options)
          size = size_of(value)
          minimum, maximum = length_limits(record, options)
          exact = options[:is]
          length_error(record, attribute, options, :wrong_length, exact) if exact && size != exact
          length_error(record, attribute, options, :too_short, minimum) if minimum && size < minimum
          length_error(record, attribute, options, :too_long, maximum) if maximum && size > maximum
        end

        def format(record, attribute, value, options)
          with, without = options.values_at(:with, :without).map { |pattern| resolved(record, pattern) }
          text = value.to_s
          good = with.nil? || with.match?(text)
          add(record, attribute, options, :invalid, value: value) if !good || without&.match?(text)
        end

        def inclusion(record, attribute, value, options)
          add(record, attribute, options, :inclusion, value: value) unless member?(record, value, options)
        end

        def exclusion(record, attribute, value, options)
          add(record, attribute, options, :exclusion, value: value) if member?(record, value, options)
        end

        # The second field, `password_confirmation`, is compared when it was given.
        def confirmation(record, attribute, value, options)
          given = record.public_send("#{attribute}_confirmation")
          return if given.nil?

          same = options[:case_sensitive] == false ? value.to_s.casecmp?(given.to_s) : value == given
          name = ValidationErrors.human(attribute)
          add(record, :"#{attribute}_confirmation", options, :confirmation, attribute: name) unless same
        end

        def acceptance(record, attribute, value, options)
          accepted = options.key?(:accept) ? Array(options[:accept]) : ACCEPTED
          add(record, attribute, options, :accepted) unless value.nil? || accepted.include?(value)
        end

        def uniqueness(record, attribute, value, options)
          relation = Relation.new(record.class).where(same_value(record, attribute, value, options))
          Array(options[:scope]).each { |name| relation = relation.where(name => record[name]) }
          relation = narrowed(relation, record, options[:conditions])
          relation = relation.not(record.class.key_condition(record.id)) unless record.new_record?
          add(record, attribute, options, :taken, value: value) if relation.any?
        end

        private

        def add(record, attribute, options, type, **details)
          record.errors.add(attribute, type, message: options[:message], **details)
        end

        def misused(name, given)
          raise ArgumentError, "#{name}: takes true or its options, not #{given.inspect}"
        end

        def length_error(record, attribute, options, type, number)
          message = options[type] || options[:message]
          message ||= ValidationErrors::MESSAGES.fetch(type).sub("characters", "character") if number == 1
          record.errors.add(attribute, type, message: message, count: number)
        end

        def size_of(value)
          return 0 if value.nil?

          value.respond_to?(:length) ? value.length : value.to_s.length
        end

        def length_limits(record, options)
          range = options[:in]
          return options.values_at(:minimum, :maximum).map { |limit| resolved(record, limit) } unless range

          last = range.end && (range.exclude_end? ? range.end - 1 : range.end)
          [range.begin, last]
        end

        # @return [Object] the value of an option that may be a Proc or a method's name
        def resolved(record, option)
          option.is_a?(Proc) || option.is_a?(Symbol) ? Questions.ask(record, option) : option
        end

        def member?(record, value, options)
          list = resolved(record, options.fetch(:in))
          list.is_a?(Range) ? list.cover?(value) : list.include?(value)
        end

        def narrowed(relation, record, conditions)
          return relation unless conditions

          relation.instance_exec(*(conditions.arity.zero? ? [] : [record]), &conditions)
        end

        def same_value(record, attribute, value, options)
          return { attribute => value } unless options[:case_sensitive] == false && value

          model = record.class
          column = model.database.dialect.qualify(model.table_name, model.table[attribute]&.name || attribute)
          Sql.new("LOWER(#{column}) = LOWER(?)", [value])
        end
      end
    end
    private_constant :Checks
  end
end
