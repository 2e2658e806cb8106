# frozen_string_literal: true

module Fastr
  # The texts a route is made of, brought into the form the native route table takes: patterns with `:name`, `*rest`
  # and `(optional)`, constraints as the source of a regular expression. It owns that translation; matching is Rust's.
  module Pattern
    module_function

    # What 2010's `:name` stands for. Rust's `\w` knows more letters than Ruby's.
    WORD = "[A-Za-z0-9_]+"
    UUID = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
    INTEGER = "-?[0-9]+"
    NAME = /([:*])([A-Za-z_]\w*)/
    SHORTHANDS = { "w" => "A-Za-z0-9_", "d" => "0-9", "h" => "0-9a-fA-F" }.freeze

    # @param pattern [String]
    # @return [Array<Symbol>] the names it captures, in order
    def names(pattern)
      pattern.scan(NAME).map { |_, name| name.to_sym }
    end

    # @param pattern [String]
    # @return [Array<Symbol>] the names in its optional parts
    def optional_names(pattern)
      pattern.scan(/\(([^)]*)\)/).flat_map { |part, | names(part) }
    end

    # @param pattern [String]
    # @return [String] with one slash in front and none behind
    def normalize(pattern)
      path = "/#{pattern}".squeeze("/")
      path.size > 1 ? path.delete_suffix("/") : path
    end

    # @param constraint [Regexp, String, Class, Symbol, Array] what the user wrote
    # @return [String] the source for the native table
    def constraint(constraint)
      case constraint
      when Regexp then translate(constraint.source, constraint.options)
      when String then translate(constraint, 0)
      when Array then constraint.map { |word| Regexp.escape(word.to_s) }.join("|")
      else known(constraint)
      end
    end

    # In 2010 a route was one regular expression, so a constraint could cross slashes.
    # @return [String] the pattern, with `:name` made `*name` where its constraint accepts a slash at the end
    def widen(pattern, constraints)
      last = names(pattern).last
      return pattern unless last && pattern.end_with?(":#{last}") && constraints.key?(last)

      crosses_slash?(constraints[last]) ? pattern.delete_suffix(":#{last}") + "*#{last}" : pattern
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

    def crosses_slash?(source)
      regex = Regexp.new("\\A(?:#{source})\\z")
      %w[a/b 1/2 a/b.c].any? { |path| regex.match?(path) }
    end

    # Ruby's \w, \d and \h are ASCII; \A, \z and the whole-value anchors are the table's own.
    def translate(source, options)
      check(source)
      text = source.delete_prefix("\\A").delete_suffix("\\z").delete_suffix("\\Z").delete_prefix("^").delete_suffix("$")
      depth = 0
      text = text.gsub(/\\.|\[\^?|\]/) do |token|
        depth += { "[" => 1, "]" => -1 }.fetch(token[0], 0)
        expand(token, depth)
      end
      options.anybits?(Regexp::IGNORECASE) ? "(?i:#{text})" : text
    end

    def expand(token, depth)
      ascii = token[0] == "\\" && SHORTHANDS[token[1]]
      return token unless ascii

      depth.positive? ? ascii : "[#{ascii}]"
    end

    def check(source)
      Regexp.new(source)
    rescue RegexpError => error
      raise RouteError, "the constraint #{source.inspect} is no regular expression: #{error.message}"
    end

    private_class_method :known, :crosses_slash?, :translate, :expand, :check
  end
  private_constant :Pattern
end
