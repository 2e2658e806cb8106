# frozen_string_literal: true

# Owns what a relation remembers of its joins by association: immutable values, compared by what they hold. The compiler
# makes SQL of them (compiler/joins). Joins written by hand are trusted {Sql} and need no value of their own.

module AsyncRecord
  # Where the other tables of a SELECT come from.
  module JoinSource
    # Associations of the relation's model, nested: `{ comments: { author: {} } }`.
    Named = Struct.new(:kind, :tree) do
      def plan(joins)
        joins.named(kind, tree)
      end
    end

    # The way back from the target of an association through others to the table that knows the owner.
    Back = Struct.new(:steps) do
      def plan(joins)
        joins.back(steps)
      end
    end

    # The way on from the first table between to the one that knows the target.
    Onward = Struct.new(:steps) do
      def plan(joins)
        joins.onward(steps)
      end
    end

    # Under which the compiler finds the table that {Onward} ends with. No column of a program is written like that.
    LAST = "via:last"

    # @return [String] the name of the table that {Back} joins for one step of the chain
    def self.via(index)
      "via:#{index}"
    end
  end
  private_constant :JoinSource

  # Trees of association names: `:user`, `[:user, :tags]`, `{ comments: :author }`, all of them mixed.
  module Tree
    EMPTY = {}.freeze

    # @param names [Array]
    # @return [Hash{Symbol => Hash}] frozen
    # @raise [ArgumentError] for what names nothing
    def self.of(*names)
      names.reduce(EMPTY) { |tree, name| merge(tree, branch(name)) }
    end

    # @return [Hash{Symbol => Hash}] both
    def self.merge(one, other)
      one.merge(other) { |_, left, right| merge(left, right) }.freeze
    end

    def self.branch(name)
      case name
      when Symbol then { name => EMPTY }
      when String then { name.to_sym => EMPTY }
      when Array then of(*name)
      when Hash then name.to_h { |key, below| [key.to_sym, below.nil? ? EMPTY : of(below)] }
      else raise ArgumentError, "associations are named by Symbols, Arrays and Hashes, not by a #{name.class}"
      end
    end
    private_class_method :branch
  end
  private_constant :Tree
end
