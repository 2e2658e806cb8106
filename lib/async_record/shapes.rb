# frozen_string_literal: true

# Owns the memory of one model's SELECTs: relations that differ in nothing but values have the same text, which is
# written once and then found again. A tree of Hashes leads to the text: one look-up for each thing that a relation
# says, which costs a third of making a key of all and finding that. Refuses relations whose text depends on a value:
# lists, ranges, NULL, subqueries, fragments, trusted SQL.

require_relative "statement"

module AsyncRecord
  # The texts of the statements of one table.
  class Shapes
    # Programs have few shapes; only clients that choose columns and orders could make more.
    LIMIT = 2000
    # Lists of columns that are known by being the same object, as those of relations in constants are.
    LISTS = 100
    # Steps that are no names, so that no two shapes take the same way. A list of columns stands between two of
    # SELECTED, a column and its new name behind RENAMED; column, direction and place of NULLs behind ORDERED.
    TEXT = 0
    SELECTED = 1
    RENAMED = 2
    DISTINCT = 3
    ORDERED = 4
    LIMITED = 5
    SKIPPED = 6
    COMPUTED = 7
    private_constant :LIMIT, :LISTS, :TEXT, :SELECTED, :RENAMED, :DISTINCT, :ORDERED, :LIMITED, :SKIPPED, :COMPUTED

    # @return [Table] what the texts were made for
    attr_reader :table

    # @param table [Table]
    # @param dialect [Dialect]
    def initialize(table, dialect)
      @table = table
      @dialect = dialect
      forget
    end

    # @param relation [Relation]
    # @param computed [Symbol, Array, nil] what is read instead of columns; stands for the block
    # @yieldparam sql [Compiler] writes what is read instead of columns
    # @return [Statement, nil] nil if the relation has to be compiled
    # @raise [UnknownColumn]
    def statement(relation, computed = nil, &write)
      values = []
      place = place_of(relation, values) || return
      place = step(step(place, COMPUTED), computed) if computed
      Statement.new(place[TEXT] ||= text(relation, &write), values)
    end

    private

    # Follows what the relation says, and collects its values in the order in which the compiler writes them:
    # conditions, limit, offset.
    #
    # @return [Hash, nil] nil if a value may change the text
    def place_of(relation, values)
      return if relation.own_text?

      place = relation.selections ? selected(relation.selections) : @root
      place = step(place, DISTINCT) if place && relation.distinct?
      place &&= narrowed(place, relation.conditions, values)
      place &&= ordered(place, relation.orders) unless relation.orders.empty?
      place && limited(place, relation, values)
    end

    def selected(columns)
      @lists[columns] || (place = follow(columns)) && listed(columns, place)
    end

    def follow(columns)
      place = step(@root, SELECTED)
      columns.each do |column|
        name, as = column
        return nil if name.is_a?(Sql)

        place = as ? step(step(step(place, RENAMED), name), as) : step(place, name)
      end
      step(place, SELECTED)
    end

    def listed(columns, place)
      @lists.clear if @lists.size >= LISTS
      @lists[columns] = place
    end

    # None if a number is compared in a way of its own.
    def narrowed(place, conditions, values)
      conditions.each do |condition|
        name = condition.text_key || (return nil)
        value = condition.bind(@dialect, @table)
        return nil if @table.beyond?(name, value)

        values << value
        place = place[name] || step(place, name)
      end
      place
    end

    def ordered(place, terms)
      place = step(place, ORDERED)
      terms.each do |column, direction, nulls|
        return nil if column.is_a?(Sql)

        place = step(step(step(place, column), direction), nulls)
      end
      place
    end

    def limited(place, relation, values)
      if (limit = relation.limit_value)
        values << limit
        place = step(place, LIMITED)
      end
      return place unless (offset = relation.offset_value)

      values << offset
      step(place, SKIPPED)
    end

    def step(place, name)
      place[name] || grow(place, name)
    end

    # Places that are in use when all is forgotten are forgotten with it.
    def grow(place, name)
      forget if (@size += 1) > LIMIT
      place[name] = {}
    end

    def forget
      @root = {}
      @lists = {}.compare_by_identity
      @size = 0
    end

    def text(relation, &write)
      compiler = Compiler.new(@dialect, @table.name, @table)
      select = Compiler::Select.new(compiler, relation)
      (write ? select.write_with(&write) : select.write).statement.sql
    end
  end
  private_constant :Shapes
end
