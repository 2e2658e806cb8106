# frozen_string_literal: true

# Owns what follows for one model from the description of its table and from its own declarations: the key, the kinds of
# attributes, the texts of statements. Made anew for every description, so that what a thread holds fits together
# whatever another one learns meanwhile. Refuses to ask the database and to notice changes: {Loading} does.

require_relative "shapes"

module AsyncRecord
  # A table as one model sees it.
  class TableMapping
    # The bits of a number that drivers take, without its sign.
    WIDTH = 63
    private_constant :WIDTH

    # @return [Table] as the database describes it
    attr_reader :source
    # @return [Table] as the model sees it
    attr_reader :table
    # @return [String, Array<String>, nil] the primary key; nil if there is none
    attr_reader :key
    # @return [Hash{String => Symbol, #cast}] attributes whose values the driver cannot read as the model wants them
    attr_reader :retyped
    # @return [Hash{String => Symbol, #cast}] attributes that are no columns
    attr_reader :virtual
    # @return [Hash{String => Symbol, #cast}] what the values of all attributes are
    attr_reader :kinds
    # @return [Shapes] the SELECTs known for the table
    attr_reader :shapes

    # @param model [Class]
    # @param source [Table]
    # @param dialect [Dialect]
    def initialize(model, source, dialect)
      @model = model
      @source = source
      @dialect = dialect
      @table = model.typed(source)
      @key = model.declared_key || key_of_table
      @retyped = kinds_of(table.columns.select { |column| model.retypes?(column) }).freeze
      @virtual = model.declared_virtual(table.names).freeze
      @plain = @retyped.empty? && @virtual.empty?
      @kinds = kinds_of(table.columns).merge(@virtual).freeze
      @shapes = Shapes.new(table, dialect)
    end

    # @param key [Object] cast
    # @return [Statement, nil] the one that every `find` of the model shares; nil if the key has several columns, or if
    #   it is a number that the column cannot hold
    def find_statement(key)
      return if !@key.is_a?(String) || (key.is_a?(Integer) && key.bit_length > WIDTH) || table.beyond?(@key, key)

      Statement.new(@find_text ||= find_text, [@dialect.bind(key), 1])
    end

    # @param row [Hash{String => Object}] as the driver read it
    # @return [Hash] the same, as the model wants it: what it declares counts more than what the column says
    def complete_row(row)
      return row if @plain

      retyped.each { |name, kind| row[name] = Type.load(kind, row[name]) if row.key?(name) }
      virtual.each_key { |name| row[name] = nil }
      row
    end

    private

    # The table's own word counts; one that says nothing (a view, an old table) may still have an id.
    def key_of_table
      keys = source.primary_key
      return keys if keys.size > 1

      keys.first || (table["id"] ? "id" : nil)
    end

    def kinds_of(columns)
      columns.to_h { |column| [column.name, column.kind] }
    end

    def find_text
      compiler = Compiler.new(@dialect, @model.table_name, table)
      Compiler::Select.new(compiler, Relation.new(@model).where(@key => 0).limit(1)).write.statement.sql
    end
  end
  private_constant :TableMapping
end
