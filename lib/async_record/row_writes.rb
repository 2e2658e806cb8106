# frozen_string_literal: true

# Owns the memory of one table's INSERTs and UPDATEs of single rows: which columns are set decides the text, which is
# written once. Refuses what makes a text depend on values: SQL as a value, and for updates a key or counter that is
# NULL or of an unusual kind, or a key of several columns.

require_relative "statement"

module AsyncRecord
  # The texts of `record.save`.
  class RowWrites
    # Programs set few combinations of columns; only tables of many columns could make more.
    LIMIT = 500
    private_constant :LIMIT

    # @param model [Class]
    # @param mapping [TableMapping]
    # @param dialect [Dialect]
    def initialize(model, mapping, dialect)
      @model = model
      @table = mapping.table
      @dialect = dialect
      @condition = [mapping.key, *mapping.locking_column].freeze if mapping.key.is_a?(String)
      @updates = {}
      @inserts = {}
    end

    # @param row [Hash{String => Object}] column to value
    # @return [Statement, nil] which returns the row as stored; nil if it has to be compiled
    def insert(row)
      binds = binds_of(row) || return
      names = row.keys
      Statement.new(@inserts[names] || keep(@inserts, names, insert_text(names)), binds)
    end

    # @param changes [Hash{String => Object}] column to value
    # @param record [Base] which says what its row has in the columns that tell it apart
    # @return [Statement, nil] nil if it has to be compiled
    def update(changes, record)
      binds = (@condition && binds_of(changes)) || return
      return unless @condition.all? { |column| compared(column, record.attribute_was(column), binds) }

      names = changes.keys
      Statement.new(@updates[names] || keep(@updates, names, update_text(names)), binds)
    end

    private

    def binds_of(row)
      return if row.any? { |_, value| value.is_a?(Sql) }

      row.map { |column, value| @dialect.bind(Compiler.cast(@table, column, value)) }
    end

    # @return [Boolean] false if the comparison is not a plain one
    def compared(column, value, binds)
      return false unless value.is_a?(Integer) || value.is_a?(String)

      value = Compiler.comparable(@dialect, @table, column, value)
      return false if @table.beyond?(column, value)

      binds << @dialect.bind(value)
      true
    end

    def insert_text(names)
      writer.insert(names, [Array.new(names.size)], returning: @table.names).statement.sql
    end

    def update_text(names)
      row = Relation.new(@model).where(@condition.to_h { |column| [column, 0] })
      writer.update(names.to_h { |name| [name, nil] }, row).statement.sql
    end

    def writer
      Compiler::Write.new(Compiler.new(@dialect, @table.name, @table), @model)
    end

    def keep(texts, names, text)
      texts.clear if texts.size >= LIMIT
      texts[names.freeze] = text
    end
  end
  private_constant :RowWrites
end
