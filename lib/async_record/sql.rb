# frozen_string_literal: true

# Owns trusted SQL text: the one way to put text instead of a name into an order, a selection, a group or a join.
# Refuses to guess: a String becomes trusted only through AsyncRecord.sql.

module AsyncRecord
  # Trusted SQL text with its binds. Made by {AsyncRecord.sql}; compared and frozen like a value.
  class Sql
    # @return [String]
    attr_reader :text
    # @return [Array]
    attr_reader :binds
    # @return [Hash{Symbol => Object}]
    attr_reader :named

    # @param text [String] `?` and `:name` are placeholders, `??` is a literal question mark
    def initialize(text, binds = [], named = {})
      @text = String.new(text, encoding: Encoding::UTF_8).freeze
      @binds = binds.freeze
      @named = named.freeze
      freeze
    end

    # @return [Boolean]
    def ==(other)
      other.is_a?(Sql) && text == other.text && binds == other.binds && named == other.named
    end
    alias eql? ==

    # @return [Integer]
    def hash
      [Sql, text, binds, named].hash
    end

    # @return [String]
    def to_s
      text
    end

    # @return [String]
    def inspect
      "#<AsyncRecord::Sql #{text}>"
    end
  end
end
