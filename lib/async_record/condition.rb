# frozen_string_literal: true

# Owns the conditions of a relation as a small tree of frozen nodes, each of which writes itself through the compiler.
# Refuses to look at schemas and dialects: names and values are judged by the compiler when the statement is made.

module AsyncRecord
  # What `where`, `not`, `or` and `having` take, as nodes.
  module Condition
    # Makes nodes of the arguments of `where`.
    #
    # @return [Array<Object>] nodes, to be joined by AND
    def self.build(condition, binds, named)
      case condition
      when Hash then hash(named.empty? ? condition : condition.merge(named), nil)
      when String then [Fragment.new(condition, freeze_values(binds), named)]
      when Sql then [Fragment.new(condition.text, condition.binds + binds, condition.named.merge(named))]
      when Relation then [All.new(condition.conditions)]
      else raise ArgumentError, "where takes a Hash, a String with binds or AsyncRecord.sql, not a #{condition.class}"
      end
    end

    # @return [Array<Object>] one node per pair; a nested Hash names another table
    def self.hash(pairs, table)
      pairs.map do |name, value|
        next All.new(hash(value, name.to_s)) if value.is_a?(Hash) && table.nil?

        Comparison.new(table ? [table, name.to_s].freeze : name, freeze_value(value))
      end
    end

    # A relation must not change when the caller's String or Array does.
    def self.freeze_value(value)
      case value
      when Array then freeze_values(value)
      when String, Set then value.frozen? ? value : value.dup.freeze
      else value
      end
    end

    def self.freeze_values(values)
      values.map { |value| freeze_value(value) }.freeze
    end
    private_class_method :hash, :freeze_value, :freeze_values

    # A column against a value, a list, a range, nothing, or a subquery.
    class Comparison
      def initialize(column, value)
        @column = column
        @value = value.is_a?(Set) ? value.to_a.freeze : value
        freeze
      end

      # (see Fragment#write)
      def write(compiler)
        compiler.comparison(@column, @value)
      end

      # @return [Symbol, String, nil] the column, if the text is the same for every such value
      def text_key
        @column if (@value.is_a?(Integer) || @value.is_a?(String)) && !@column.is_a?(Array)
      end

      # @return [Object] what the driver gets for the value of a condition with a text key
      def bind(dialect, table)
        dialect.bind(Compiler.comparable(table, @column, @value))
      end
    end

    # A node whose text may depend on its values.
    module Node
      # @return [nil]
      def text_key
        nil
      end
    end

    # Hand-written SQL with binds.
    class Fragment
      include Node

      def initialize(text, binds, named)
        @text = text.dup.freeze
        @binds = binds
        @named = named
        freeze
      end

      # @param compiler [Compiler]
      # @return [void]
      def write(compiler)
        compiler.parenthesized { compiler.fragment(@text, @binds, @named) }
      end
    end

    # An association leads somewhere.
    class Existence
      include Node

      # @param reflection [Associations::Reflection] of the model
      def initialize(model, reflection)
        @model = model
        @reflection = reflection
        freeze
      end

      # (see Fragment#write)
      def write(compiler)
        Compiler::Joins.new(compiler, @model).existence(@reflection)
      end
    end

    # A column has the key of an owner, as it is when the statement is made. An owner without a key owns nothing.
    class OfOwner
      include Node

      # @param association [Associations::Holder]
      def initialize(association, column)
        @association = association
        @column = column
        freeze
      end

      # (see Fragment#write)
      def write(compiler)
        key = @association.key
        key.nil? ? compiler << "1=0" : compiler.comparison(@column, key)
      end
    end

    # Every node holds.
    class All
      include Node

      def initialize(nodes)
        @nodes = nodes.freeze
        freeze
      end

      # (see Fragment#write)
      def write(compiler)
        return compiler << "1=1" if @nodes.empty?

        compiler.parenthesized { compiler.join(@nodes, " AND ") { |node| node.write(compiler) } }
      end
    end

    # At least one node holds.
    class Any
      include Node

      def initialize(nodes)
        @nodes = nodes.freeze
        freeze
      end

      # (see Fragment#write)
      def write(compiler)
        compiler.parenthesized { compiler.join(@nodes, " OR ") { |node| node.write(compiler) } }
      end
    end

    # The nodes together do not hold.
    class Not
      include Node

      def initialize(nodes)
        @inner = All.new(nodes)
        freeze
      end

      # (see Fragment#write)
      def write(compiler)
        compiler << "NOT "
        @inner.write(compiler)
      end
    end
  end
  private_constant :Condition
end
