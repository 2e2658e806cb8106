# frozen_string_literal: true

# Owns the way from a class name to a table name. Refuses to be a language library: what it gets wrong is said with
# `self.table_name = "…"`.

module AsyncRecord
  # Table names from class names.
  module Inflector
    IRREGULAR = {
      "person" => "people", "man" => "men", "woman" => "women", "child" => "children", "mouse" => "mice",
      "tooth" => "teeth", "foot" => "feet", "goose" => "geese", "ox" => "oxen"
    }.freeze
    UNCOUNTABLE = %w[equipment information rice money species series fish sheep news metadata data].freeze
    private_constant :IRREGULAR, :UNCOUNTABLE

    module_function

    # @example
    #   Inflector.table_name("Blog::BlogPost") # => "blog_posts"
    # @param class_name [String]
    # @return [String]
    def table_name(class_name)
      words = underscore(class_name.split("::").last)
      head, separator, last = words.rpartition("_")
      "#{head}#{separator}#{pluralize(last)}"
    end

    # @return [String] the name in lower case with underscores
    def underscore(name)
      name.gsub(/([A-Z\d]+)([A-Z][a-z])/, '\1_\2').gsub(/([a-z\d])([A-Z])/, '\1_\2').downcase
    end

    # @return [String] the name in camel case
    def camelize(name)
      name.split("_").map { |part| "#{part[0].to_s.upcase}#{part[1..]}" }.join
    end

    # @return [String] the plural; a plural stays as it is
    def pluralize(word)
      return word if UNCOUNTABLE.include?(word) || IRREGULAR.value?(word)

      IRREGULAR.fetch(word) { regular_plural(word) }
    end

    # @return [String] the singular; a singular stays as it is
    def singularize(word)
      return word if UNCOUNTABLE.include?(word)

      IRREGULAR.key(word) || regular_singular(word)
    end

    def regular_plural(word)
      case word
      when /(?:s|x|z|ch|sh)es\z/, /ies\z/, /[^s]s\z/ then irregular_s(word)
      when /(?:ss|x|z|ch|sh)\z/ then "#{word}es"
      when /[^aeiou]y\z/ then "#{word[0..-2]}ies"
      else "#{word}s"
      end
    end

    # Words that end in a single s: a few singulars take "es", everything else is a plural already.
    def irregular_s(word)
      word.match?(/(?:us|is|as)\z/) ? "#{word.sub(/is\z/, '')}es" : word
    end

    def regular_singular(word)
      case word
      when /ies\z/ then "#{word[0..-4]}y"
      when /(?:ss|x|z|ch|sh|us|as)es\z/ then word[0..-3]
      when /ss\z/, /us\z/ then word
      when /s\z/ then word[0..-2]
      else word
      end
    end
    private_class_method :regular_plural, :irregular_s, :regular_singular
  end
  private_constant :Inflector
end
