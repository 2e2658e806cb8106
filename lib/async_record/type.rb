# frozen_string_literal: true

# Owns what a column's values are in Ruby: the reading of a declared SQL type and the casting of what a program
# assigns, asks for, or gets from an expression. A kind is a Symbol, or a type of the program's own: an object with
# `cast` and, where needed, `load` and `dump`. Casting by a Symbol is lenient and never raises: what cannot be cast
# stays as it is, and validation or the database judges it. Refuses to know any database's wire format (the driver
# decodes).

require "bigdecimal"
require "date"
require "json"
require "time"

module AsyncRecord
  # The kinds of values.
  #
  # @example a type of one's own
  #   module Cents                                      # cast: what a program assigns or asks for
  #     def self.cast(value) = value.is_a?(Money) ? value : Money.new(value)
  #     def self.load(value) = Money.new(value / 100r)  # from the database; without it, cast
  #     def self.dump(money) = (money.amount * 100).to_i
  #   end
  #   AsyncRecord::Type.register(:cents, Cents)
  #   class Item < AsyncRecord::Base
  #     attribute :price, :cents                        # or attribute :price, Cents
  #   end
  module Type
    # Order matters: the first pattern that fits wins.
    PATTERNS = {
      /\A(?:int4|int8|num|ts|tstz|date)(?:multi)?range/ => :range,
      /\A(?:interval|point)/ => :any,
      /\A(?:bool|tinyint\(1\))/ => :boolean,
      /\b(?:tiny|small|medium|big)?int(?:eger|\d)?\b|serial/ => :integer,
      /json/ => :json,
      /datetime|timestamp/ => :datetime,
      /\Adate\b/ => :date,
      /\Atime/ => :time,
      /dec|numeric|money/ => :decimal,
      /real|floa|doub/ => :float,
      /char|clob|text|string|uuid|enum|name/ => :string,
      /blob|bytea|binary/ => :blob
    }.freeze
    TRUE_WORDS = [true, 1, 1.0, "1", "t", "T", "true", "TRUE", "True", "on", "ON", "yes", "y"].freeze
    FALSE_WORDS = [false, 0, 0.0, "0", "f", "F", "false", "FALSE", "False", "off", "OFF", "no", "n"].freeze
    ZONE = /(?:Z|UTC|[+-]\d\d:?\d\d)\s*\z/i
    REGISTERING = Mutex.new
    private_constant :PATTERNS, :TRUE_WORDS, :FALSE_WORDS, :ZONE, :REGISTERING

    @registered = {}

    module_function

    # Gives a type of the program's own a name for `attribute`.
    #
    # @param name [Symbol]
    # @param type [#cast]
    # @return [void]
    def register(name, type)
      raise ArgumentError, "a type answers to cast(value); #{type.inspect} does not" unless type.respond_to?(:cast)

      REGISTERING.synchronize { @registered = @registered.merge(name.to_sym => type).freeze }
    end

    # @param type [Symbol, String, #cast] a registered name, a type as in a migration, or a type itself
    # @return [Symbol, #cast]
    # @raise [ArgumentError] for a name that means nothing
    def resolve(type)
      return type if type.respond_to?(:cast)

      found = @registered[type.to_sym] || self.for(type)
      return found unless found == :any && type.to_sym != :any

      raise ArgumentError, "there is no type #{type.inspect}; AsyncRecord::Type.register gives one of your own a name"
    end

    # @param declared [String, nil] as in "VARCHAR(40)"
    # @return [Symbol] :any when the declaration says nothing, or when the value is cast by nobody but the database
    def for(declared)
      text = declared.to_s.downcase
      return :array if text.end_with?("[]")

      PATTERNS.each { |pattern, kind| return kind if pattern.match?(text) }
      :any
    end

    # @param kind [Symbol, #cast]
    # @param value [Object]
    # @return [Object] the value as the kind's Ruby class, or unchanged if that makes no sense
    def cast(kind, value)
      return nil if value.nil?

      case kind
      when :integer then integer(value)
      when :string then string(value)
      when :datetime then datetime(value)
      when :boolean then boolean(value)
      when :float, :decimal then number(kind, value)
      else rare(kind, value)
      end
    rescue Encoding::CompatibilityError # text of an encoding that nothing can be read from
      value
    end

    def rare(kind, value)
      case kind
      when :date then date(value)
      when :json then json(value)
      when :blob then value.is_a?(String) ? value.b : value
      else kind.is_a?(Symbol) ? value : kind.cast(value)
      end
    end

    # @param kind [Symbol, #cast]
    # @param value [Object] as the database gave it
    # @return [Object] the attribute's value
    def load(kind, value)
      return nil if value.nil?

      kind.respond_to?(:load) ? kind.load(value) : cast(kind, value)
    end

    # @param kind [Symbol, #cast]
    # @param value [Object] as a program says it
    # @return [Object] what is bound. Text for a document column is the document's text.
    def dump(kind, value)
      return nil if value.nil?
      return kind == :json && !value.is_a?(String) ? JSON.generate(value) : cast(kind, value) if kind.is_a?(Symbol)

      value = kind.cast(value)
      kind.respond_to?(:dump) && !value.nil? ? kind.dump(value) : value
    end

    # @param kind [Symbol, #cast]
    # @param value [Object] an attribute's value
    # @return [Object] one that changes made in place do not reach
    def copy(kind, value)
      case value
      when String then value.dup
      when Hash, Array then JSON.parse(JSON.generate(value))
      else !value.frozen? && kind.respond_to?(:dump) ? load(kind, kind.dump(value)) : value
      end
    rescue JSON::GeneratorError
      value
    end

    # @param value [Object] an attribute's value
    # @return [Object] the same as JSON says it, as the driver writes it from rows. JSON has no infinity and no NaN.
    def for_json(value)
      case value
      when Time then value.getutc.iso8601(6)
      when Float then value.finite? ? value : nil
      when Array then value.map { |element| for_json(element) }
      when BigDecimal then decimal_for_json(value)
      when String then value.encoding == Encoding::BINARY ? [value].pack("m0") : value
      else value.is_a?(Range) ? range_for_json(value) : value
      end
    end

    def decimal_for_json(number)
      number.finite? && number.frac.zero? ? number.to_i.to_s : number.to_s("F")
    end

    # As PostgreSQL writes it: "[1,5)".
    def range_for_json(range)
      bounds = [range.begin, range.end].map { |bound| bound.is_a?(Float) ? infinite_word(bound) : for_json(bound) }
      closed = range.end.nil? || range.exclude_end? ? ")" : "]"
      "#{range.begin.nil? ? '(' : '['}#{bounds.join(',')}#{closed}"
    end

    def infinite_word(number)
      return number unless number.infinite?

      number.positive? ? "infinity" : "-infinity"
    end

    # "12abc" is 12, as it always was for keys from a URL; text without a leading number is left alone.
    def integer(value)
      case value
      when Integer then value
      when String then value.match?(/\A\s*[+-]?\d/) ? value.to_i : blank_to_nil(value)
      when Float then value.finite? ? value.to_i : value
      when true then 1
      when false then 0
      when Numeric then value.to_i
      else value
      end
    end

    def string(value)
      case value
      when String then text(value)
      when Symbol then value.name
      when Numeric then value.is_a?(BigDecimal) ? value.to_s("F") : value.to_s
      else value
      end
    end

    # What comes from a socket has no encoding; as a blob it would equal no text.
    def text(value)
      return value if value.encoding == Encoding::UTF_8
      return value.valid_encoding? ? value.encode(Encoding::UTF_8) : value unless value.encoding == Encoding::BINARY

      utf8 = value.dup.force_encoding(Encoding::UTF_8)
      utf8.valid_encoding? ? utf8 : value
    rescue EncodingError
      value
    end

    def boolean(value)
      return true if TRUE_WORDS.include?(value)
      return false if FALSE_WORDS.include?(value)

      value == "" ? nil : value
    end

    def number(kind, value)
      return kind == :float ? float(value) : decimal(value) unless value.is_a?(String)

      text = value[/\A\s*[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/]
      return blank_to_nil(value) unless text

      kind == :float ? text.to_f : BigDecimal(text.strip.delete_suffix("."))
    rescue ArgumentError
      value
    end

    def float(value)
      value.is_a?(Numeric) ? value.to_f : value
    end

    def decimal(value)
      case value
      when BigDecimal then value
      when Integer then BigDecimal(value)
      when Float then value.finite? ? BigDecimal(value.to_s) : value
      when Rational then BigDecimal(value, 18)
      else value
      end
    end

    def datetime(value)
      case value
      when Time then value.instance_of?(Time) ? value : value.getutc # ActiveSupport's pretends to be one
      when DateTime then value.to_time
      when Date then Time.utc(value.year, value.month, value.day)
      when String then parse_time(value)
      else value
      end
    end

    def date(value)
      case value
      when DateTime then value.to_date
      when Date then value
      when Time then Date.new(value.year, value.month, value.day)
      when String then value.empty? ? nil : Date.iso8601(value[0, 10])
      else value
      end
    rescue Date::Error
      value
    end

    # Text is a document when it reads as one; anything else is a value to be stored as JSON. A Hash or an Array becomes
    # what it will be after reading it back: with Strings for keys, and nobody else's.
    def json(value)
      case value
      when String then value.match?(/\A\s*[\[{"]/) ? JSON.parse(value) : value
      when Hash, Array then JSON.parse(JSON.generate(value))
      else value
      end
    rescue JSON::JSONError
      value
    end

    # Text without a zone is UTC, as the drivers read it.
    def parse_time(text)
      return nil if text.strip.empty?

      Time.parse(ZONE.match?(text) ? text : "#{text} UTC")
    rescue ArgumentError
      text
    end

    def blank_to_nil(text)
      text.strip.empty? ? nil : text
    end
    private_class_method :rare, :integer, :string, :text, :boolean, :number, :float, :decimal, :datetime, :date, :json,
                         :parse_time, :blank_to_nil, :decimal_for_json, :range_for_json, :infinite_word
  end
end
