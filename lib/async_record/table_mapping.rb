# frozen_string_literal: true

# Owns what follows for one model from the description of its table and from its own declarations: the key, the kinds of
# attributes, the texts of statements. Made anew for every description, so that what a thread holds fits together
# whatever another one learns meanwhile. Refuses to ask the database and to notice changes: {Loading} does.

require_relative "row_writes"
require_relative "shapes"

module AsyncRecord
  # A table as one model sees it.
  class TableMapping
    # The bits of a number that drivers take, without its sign.
    WIDTH = 63
    STAMPS = { create: %w[created_at updated_at], update: %w[updated_at] }.freeze
    private_constant :WIDTH, :STAMPS

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
    # @return [Hash{Symbol => Array<String>}] the timestamp columns that :create and :update set
    attr_reader :stamps
    # @return [String, nil] the column that counts changes
    attr_reader :locking_column
    # @return [Shapes] the SELECTs known for the table
    attr_reader :shapes
    # @return [RowWrites] the INSERTs and UPDATEs known for its rows
    attr_reader :row_writes

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
      @stamps = stamped_columns
      @locking_column = counting_column
      @shapes = Shapes.new(table, dialect)
      @row_writes = RowWrites.new(model, self, dialect)
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

    # @return [Hash{String => Object}] the attributes of a new record, which may change them in place
    def default_attributes
      @defaults ||= table.names.zip(table.columns.map(&:default)).to_h.merge(virtual.transform_values { nil })
      @copied ||= table.columns.reject { |column| Type.copy(column.kind, column.default).equal?(column.default) }
      @defaults.merge(@copied.to_h { |column| [column.name, Type.copy(column.kind, column.default)] })
    end

    private

    # The table's own word counts; one that says nothing (a view, an old table) may still have an id.
    def key_of_table
      keys = source.primary_key
      return keys if keys.size > 1

      keys.first || (table["id"] ? "id" : nil)
    end

    def stamped_columns
      STAMPS.transform_values { |names| names.select { |name| kinds.key?(name) }.freeze }.freeze
    end

    def counting_column
      name = @model.locking_column
      name if @model.lock_optimistically != false && table[name]
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
