# frozen_string_literal: true

# Owns SQLite's differences. Dates and decimals travel as text: SQLite has no type of its own for them.

module AsyncRecord
  class Dialect
    # SQLite 3.35 and later (RETURNING, upsert, NULLS FIRST).
    class SQLite < Dialect
      TIME_FORMAT = "%Y-%m-%d %H:%M:%S.%6N"
      TYPES = {
        primary_key: "INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL", string: "VARCHAR", text: "TEXT", integer: "INTEGER",
        bigint: "BIGINT", float: "FLOAT", decimal: "DECIMAL", boolean: "BOOLEAN", date: "DATE", datetime: "DATETIME",
        time: "TIME", json: "JSON", blob: "BLOB", binary: "BLOB"
      }.freeze
      # The extended form shows generated columns too; hidden = 1 are those of virtual tables.
      COLUMNS = <<~SQL.tr("\n", " ").strip.freeze
        SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_xinfo(?, ?) WHERE hidden <> 1 ORDER BY cid
      SQL
      UUID = <<~SQL.tr("\n", " ").strip.freeze
        lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' ||
        substr('89ab', 1 + (abs(random()) % 4), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
      SQL
      private_constant :TIME_FORMAT, :TYPES, :COLUMNS, :UUID

      # (see Dialect#name)
      def name
        :sqlite
      end

      # SQLite itself has no limit; a name longer than this is a mistake or an attack.
      # @return [Integer]
      def max_identifier
        255
      end

      # (see Dialect#comparable) What no column can hold still compares rightly as a Float.
      def comparable(number)
        number.to_f
      end

      # (see Dialect#limit_clause)
      def limit_clause(limit, offset)
        super(limit || (offset && "-1"), offset)
      end

      # (see Dialect#boolean)
      def boolean(value)
        value ? "1" : "0"
      end

      # One writer at a time: there is no row to lock.
      # @return [String]
      def lock_clause(_lock)
        ""
      end

      # (see Dialect#explain)
      def explain
        "EXPLAIN QUERY PLAN "
      end

      # @return [Array(String, Array)] the statement that describes a table: name, type, not null, default, key position
      def columns_query(table)
        [COLUMNS, split_table(table).reverse]
      end

      # @return [Array(String, Array)] a statement with a row if the table exists
      def table_query(table)
        schema, name = split_table(table)
        ["SELECT 1 FROM #{schema ? "#{quote(schema)}." : ''}sqlite_master WHERE type IN ('table', 'view') AND name = ?",
         [name]]
      end

      # @return [Hash{Symbol => String}]
      def types
        TYPES
      end

      # (see Dialect#bind)
      # @raise [RangeError] for a number beyond 64 bits
      def bind(value)
        return super unless value.is_a?(Integer) && value.bit_length > 63

        raise RangeError, "#{value} does not fit SQLite's signed 64 bits; store it as text or as a decimal"
      end

      # @return [Sql] makes a random UUID
      def uuid
        Sql.new(UUID)
      end

      private

      def bind_exact(value)
        case value
        when BigDecimal then value.to_s("F")
        when Time then value.getutc.strftime(TIME_FORMAT)
        when DateTime then value.to_time.utc.strftime(TIME_FORMAT)
        else value.iso8601
        end
      end
    end
  end
end
