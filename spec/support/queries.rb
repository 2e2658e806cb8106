# frozen_string_literal: true

module Support
  # Counts what the database is asked.
  module Queries
    # @return [Array<String>] the statements of the block as the standard quotes them, without the reading of schemas
    def queries
      seen = Thread::Queue.new
      subscription = AsyncRecord.subscribe(:query) { |event| seen << event.sql.tr("`", '"') }
      yield
      Array.new(seen.size) { seen.pop }.grep_v(/pragma_table_xinfo|information_schema|pg_attribute/)
    ensure
      AsyncRecord.unsubscribe(subscription)
    end

    # @return [String] the statement of a relation as the standard quotes it
    def standard_sql(relation)
      relation.to_sql.tr("`", '"')
    end

    # @return [Array<String>] the tables that the block's SELECTs read, in order
    def tables_read(&block)
      queries(&block).grep(/\ASELECT/).map { |sql| sql[/ FROM "(\w+)/, 1] }
    end
  end
end

RSpec.configure { |config| config.include Support::Queries }
