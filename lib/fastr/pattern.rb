# frozen_string_literal: true

module Fastr
  # The texts a route is made of, in the form the native route table takes: patterns with `:name`, `*rest` and
  # `(optional)`, constraints as the source of a regular expression. It owns that form; matching, and what a constraint
  # may say, are Rust's.
  module Pattern
    module_function

    # What 2010's `:name` stands for.
    WORD = "\\w+"
    # What `:uuid` stands for.
    UUID = "\\h{8}-\\h{4}-\\h{4}-\\h{4}-\\h{12}"
    # What `Integer` stands for.
    INTEGER = "-?\\d+"
    # A name to capture, and how.
    NAME = /(?<!\\)([:*])([A-Za-z_]\w*)/

    # @param pattern [String]
    # @return [Array<Symbol>] the names it captures, in order
    def names(pattern)
      pattern.scan(NAME).map { |_, name| name.to_sym }
    end

    # @param pattern [String]
    # @return [String] with one slash in front and none behind
    def normalize(pattern)
      path = "/#{pattern}".squeeze("/")
      path = path.delete_prefix("/") if path.start_with?("/(/")
      path.size > 1 ? path.delete_suffix("/") : path
    end

    # @param constraint [Regexp, String, Class, Symbol, Array] what the user wrote
    # @return [String] the source of a regular expression over the whole value
    def constraint(constraint)
      case constraint
      when Regexp then with_flags(constraint)
      when String then check(constraint)
      when Array then constraint.map { |word| Regexp.escape(word.to_s) }.join("|")
      else known(constraint)
      end
    end

    def known(constraint)
      case constraint.to_s
      when "Integer", "integer" then INTEGER
      when "uuid" then UUID
      else
        raise RouteError, "#{constraint.inspect} is no constraint; use a Regexp, a String, an Array of words, " \
                          "Integer or :uuid"
      end
    end

    def with_flags(regexp)
      flags = { Regexp::IGNORECASE => "i", Regexp::MULTILINE => "m", Regexp::EXTENDED => "x" }
      set = flags.filter_map { |bit, letter| letter if regexp.options.anybits?(bit) }.join
      set.empty? ? regexp.source : "(?#{set})#{regexp.source}"
    end

    def check(source)
      Regexp.new(source)
      source
    rescue RegexpError => e
      raise RouteError, "the constraint #{source.inspect} is no regular expression: #{e.message}"
    end

    private_class_method :known, :with_flags, :check
  end
  private_constant :Pattern
end
