# frozen_string_literal: true

# Owns the doubles for AsyncRecord's unit specs: a database whose pool records every statement and answers from a list.

require "async_record"

# Rows as the native driver gives them.
class FakeRows
  attr_reader :columns, :size

  def initialize(columns, values)
    @columns = columns.map { |name| -name.to_s }.freeze
    @values = values
    @size = values.size
  end

  def row(index)
    @values[index]&.dup
  end

  def hash_at(index)
    @columns.zip(@values.fetch(index)).to_h
  end

  def to_a
    Array.new(size) { |index| hash_at(index) }
  end

  def values_at_column(index)
    @values.map { |row| row[index] }
  end

  def excerpt(names, start, count)
    indexes = names.map { |name| @columns.index(name) }
    FakeRows.new(names, @values[start, count].map { |row| row.values_at(*indexes) })
  end
end

# Records what it is asked and answers with what the spec said.
class FakePool
  attr_reader :statements, :log

  def initialize
    @statements = []
    @log = []
    @answers = []
    @transactions = 0
  end

  def answer(pattern, result = nil, &block)
    @answers.unshift([pattern, block || ->(*) { result }])
  end

  def query(sink, sql, binds, options)
    @statements << [sql, binds]
    @log << [sql, binds, options]
    sink << answer_for(sql, binds)
  end

  def script(sink, sql, options)
    query(sink, sql, [], options)
  end

  def begin(sink, options)
    @statements << ["BEGIN", []]
    @log << ["BEGIN", [], options]
    sink << (@transactions += 1)
  end

  def commit(sink, _transaction)
    @statements << ["COMMIT", []]
    sink << answer_for("COMMIT", [])
  end

  def rollback(sink, _transaction)
    @statements << ["ROLLBACK", []]
    sink << nil
  end

  def stats
    { size: 1 }
  end

  private

  def answer_for(sql, binds)
    _, answer = @answers.find { |pattern, _| sql.match?(pattern) }
    answer ? answer.call(sql, binds) : default_answer(sql)
  end

  def default_answer(sql)
    sql.match?(/\A(?:SELECT|EXPLAIN)/) || sql.include?("RETURNING") ? FakeRows.new([], []) : [1, 7]
  end
end

# A database without a driver.
class FakeDatabase < AsyncRecord::Database
  def initialize(url = "sqlite::memory:", tables: {})
    super(url)
    @fake = FakePool.new
    tables.each { |name, columns| table(name, columns) }
  end

  def pool
    @fake
  end

  # The stand-in for waiting: results are there at once.
  def complete(pool = self.pool)
    results = []
    yield pool, results
    raise results.first if results.first.is_a?(Exception)

    results.first
  end

  # The stand-in for a thread's sleep.
  Answers = Class.new(Array) do
    def id = 0

    def wait(_limit)
      first.is_a?(Exception) ? raise(first) : first
    end
  end

  def waiter
    Answers.new
  end

  # @param columns [Hash{Symbol => String}] names and declared types; the first one is the primary key
  def table(name, columns)
    rows = columns.each_with_index.map { |(column, type), index| [column.to_s, type, 0, nil, index.zero? ? 1 : 0] }
    schema_rows[name.to_s] = FakeRows.new(%w[name type notnull dflt_value pk], rows)
    @fake.answer(/pragma_table_xinfo|information_schema|pg_attribute/) do |_, binds|
      schema_rows.fetch(binds.first.delete("\"`"), FakeRows.new([], []))
    end
  end

  def answer(pattern, columns, *rows)
    @fake.answer(pattern, FakeRows.new(columns, rows))
  end

  def fail_with(pattern, error)
    @fake.answer(pattern, error)
  end

  # @return [Array] the statements so far, without the reading of the schema
  def statements
    @fake.statements.reject { |sql, _| sql.match?(/pragma_table_xinfo|information_schema|pg_attribute/) }
  end

  def sql
    statements.map(&:first)
  end

  def log
    @fake.log
  end

  def forget_statements
    @fake.statements.clear
    @fake.log.clear
  end

  private

  def schema_rows
    @schema_rows ||= {}
  end
end
