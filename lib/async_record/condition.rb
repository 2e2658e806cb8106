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

    # @return [Array<Object>] one node per pair; a nested Hash names another table, an Array several columns at once
    def self.hash(pairs, table)
      nodes = []
      pairs.each_pair { |name, value| nodes << pair(name, value, table) }
      nodes
    end

    def self.pair(name, value, table)
      return All.new(hash(value, name.to_s)) if value.is_a?(Hash) && table.nil?
      return tuples(name, value, table) if name.is_a?(Array)

      Comparison.new(table ? [table, name.to_s].freeze : name, freeze_value(value))
    end

    # `where([:a, :b] => [[1, 2], [3, 4]])`
    def self.tuples(names, rows, table)
      choices = rows.map do |row|
        unless row.is_a?(Array) && row.size == names.size
          raise ArgumentError, "#{names.inspect} needs lists of #{names.size} values, not #{row.inspect}"
        end

        All.new(hash(names.zip(row).to_h, table))
      end
      Any.new(choices)
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
    private_class_method :hash, :pair, :tuples, :freeze_value, :freeze_values

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

      # @param name [String]
      # @return [Boolean] whether it is about this column and nothing else
      def about?(name)
        column_name == name || column_name.delete_prefix("#{name[/\A(\w+)\./, 1]}.") == name
      end

      # @return [String]
      def column_name
        @column.is_a?(Array) ? @column.join(".") : @column.to_s
      end

      # @return [Hash] what a new record of the relation has, so that it is one of its rows
      def assignments
        return {} if column_name.include?(".")

        case @value
        when Array, Range, Relation, Sql, Hash then {}
        else { column_name => @value }
        end
      end

      # @return [Object] what the driver gets for the value of a condition with a text key
      def bind(dialect, table)
        # The most frequent of all, a key, needs no cast.
        return @value if @value.is_a?(Integer) && @value.bit_length < 64 && table[@column]&.kind == :integer

        dialect.bind(Compiler.comparable(dialect, table, @column, @value))
      end
    end

    # A node whose text may depend on its values.
    module Node
      # @return [nil]
      def text_key
        nil
      end

      # (see Comparison#about?)
      def about?(_name)
        false
      end

      # @return [nil] the one column it is about
      def column_name
        nil
      end

      # (see Comparison#assignments)
      def assignments
        {}
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

      # (see Comparison#about?)
      def about?(name)
        !@nodes.empty? && @nodes.all? { |node| node.about?(name) }
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
        return compiler << "1=0" if @nodes.empty?

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

      # (see Comparison#about?)
      def about?(name)
        @inner.about?(name)
      end
    end

    # The rows behind one, in the order of some columns.
    class Beyond
      include Node

      # @param terms [Array<Array(String, Symbol)>] columns and directions
      # @param values [Array] the row's
      # @param inclusive [Boolean] whether the row itself is one of them
      def initialize(terms, values, inclusive: false)
        @terms = terms
        @values = values
        @inclusive = inclusive
        freeze
      end

      # (see Fragment#write)
      def write(compiler)
        steps = @terms.each_index.to_a
        steps << nil if @inclusive
        compiler.parenthesized { compiler.join(steps, " OR ") { |last| step(compiler, last) } }
      end

      private

      # Equal in all columns before the last one, and beyond in that. nil: equal in all.
      def step(compiler, last)
        parts = last ? (0..last) : @terms.each_index
        compiler.parenthesized do
          compiler.join(parts, " AND ") do |index|
            column, direction = @terms[index]
            beyond = direction == :desc ? " < " : " > "
            compiler.edge(column, index == last ? beyond : " = ", @values[index])
          end
        end
      end
    end
  end
  private_constant :Condition
end
