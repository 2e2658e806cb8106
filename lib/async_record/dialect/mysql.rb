# frozen_string_literal: true

# Owns the differences of MySQL and MariaDB: backticks, ON DUPLICATE KEY, RETURNING on MariaDB only, no NULLS FIRST.

module AsyncRecord
  class Dialect
    # MySQL 5.7, MariaDB 10.4 and later.
    class MySQL < Dialect
      NO_LIMIT = "18446744073709551615"
      TYPES = {
        primary_key: "BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY", string: "VARCHAR", text: "LONGTEXT", integer: "INT",
        bigint: "BIGINT", float: "DOUBLE", decimal: "DECIMAL", boolean: "TINYINT(1)", date: "DATE",
        datetime: "DATETIME(6)", time: "TIME", json: "JSON", blob: "LONGBLOB", binary: "LONGBLOB"
      }.freeze
      # Only MariaDB reads what stands in /*M! */, only MySQL what stands in /*!50700 */. MariaDB keeps JSON as text
      # with a check; it gives defaults as SQL, MySQL as bare text.
      # Each view is asked once, for one table, and the answers are joined: a subquery per column took 100 ms, and
      # MariaDB 10.11 died of it (signal 11 in free_tmp_table) after some hundred times. DISTINCT keeps them apart.
      COLUMNS = <<~SQL.tr("\n", " ").strip.freeze
        SELECT c.column_name AS name, c.column_type AS type, c.is_nullable = 'NO' AS `notnull`,
        /*M! c.column_default */ /*!50700 IF(c.extra LIKE '%DEFAULT_GENERATED%', NULL, QUOTE(c.column_default)) */
        AS dflt_value,
        /*M! IF(k.check_clause IS NULL, NULL, 'json') AS kind_type, */
        c.column_type AS stored_type, CAST(coalesce(s.seq_in_index, 0) AS SIGNED) AS pk
        FROM information_schema.columns c
        LEFT JOIN (SELECT DISTINCT column_name, seq_in_index FROM information_schema.statistics WHERE
        table_schema = database() AND table_name = ? AND index_name = 'PRIMARY') s ON s.column_name = c.column_name
        /*M! LEFT JOIN (SELECT DISTINCT check_clause FROM information_schema.check_constraints WHERE
        constraint_schema = database() AND table_name = ?) k
        ON k.check_clause = CONCAT('json_valid(`', c.column_name, '`)') */
        WHERE c.table_schema = database() AND c.table_name = ? /*!50700 AND c.table_name = ? */
        ORDER BY c.ordinal_position
      SQL
      # As many places on both.
      COLUMNS_OF_ANOTHER = COLUMNS.gsub("database()", "?")
                                  .sub("/*!50700 AND", "/*!50700 AND c.table_schema = ? AND").freeze
      private_constant :NO_LIMIT, :TYPES, :COLUMNS, :COLUMNS_OF_ANOTHER

      # (see Dialect#name)
      def name
        :mysql
      end

      # (see Dialect#quote_char)
      def quote_char
        "`"
      end

      # (see Dialect#backslash_escapes?)
      def backslash_escapes?
        true
      end

      # (see Dialect#tells_documents?)
      def tells_documents?
        false
      end

      # (see Dialect#max_identifier)
      def max_identifier
        64
      end

      # (see Dialect#max_binds)
      def max_binds
        65_535
      end

      # (see Dialect#limit_clause)
      def limit_clause(limit, offset)
        super(limit || (offset && NO_LIMIT), offset)
      end

      # NULLs come first in ascending order here; asking for another place takes a term of its own.
      # @return [String]
      def order_term(column, direction, nulls)
        term = super(column, direction, nil)
        return term unless nulls

        "#{column} IS NULL #{nulls == :first ? 'DESC' : 'ASC'}, #{term}"
      end

      # MariaDB knows it, MySQL does not.
      def returning?
        false
      end

      # MariaDB reads what is in this comment, MySQL does not. A name that would end the comment is not for it.
      # @return [String]
      def returning_clause(list)
        list.include?("*/") ? "" : " /*M!100500 RETURNING #{list} */"
      end

      # (see Dialect#reads_its_target?)
      def reads_its_target?
        false
      end

      # `LOCK IN SHARE MODE` is what both understand; with more to say, each has its own words.
      # @return [String]
      def lock_clause(lock)
        unless %w[UPDATE SHARE].include?(lock.strength)
          raise NotSupported, "FOR #{lock.strength} is PostgreSQL's alone; MySQL has lock (FOR UPDATE) and " \
                                    "lock(:share)"
        end
        return super unless lock.strength == "SHARE" && lock.tables.empty?
        return " LOCK IN SHARE MODE" unless lock.wait

        " /*!80000 FOR SHARE #{lock.wait} */ /*M! LOCK IN SHARE MODE #{lock.wait} */"
      end

      # @return [Array(String, Array)] a statement with the columns of every unique index: its name, a column's
      def unique_indexes_query(table)
        within("SELECT index_name AS name, column_name AS `column` FROM information_schema.statistics " \
               "WHERE table_schema = database() AND table_name = ? AND non_unique = 0 " \
               "ORDER BY index_name, seq_in_index", table)
      end

      # (see Dialect#conflict_target?)
      def conflict_target?
        false
      end

      # Every unique index counts here. A skipped row overwrites one column with itself.
      # @return [String]
      def upsert_clause(conflict, updates)
        sets = (updates || []).map { |column| "#{column} = VALUES(#{column})" }
        sets = conflict.first(1).map { |column| "#{column} = #{column}" } if sets.empty?
        " ON DUPLICATE KEY UPDATE #{sets.join(', ')}"
      end

      # (see Dialect#upsert_head)
      def upsert_head(_conflict)
        " ON DUPLICATE KEY UPDATE "
      end

      # (see Dialect#default_values)
      def default_values
        " () VALUES ()"
      end

      # (see Dialect#random)
      def random
        "RAND()"
      end

      # Every DDL statement commits by itself.
      def transactional_ddl?
        false
      end

      # (see SQLite#columns_query)
      def columns_query(table)
        schema, name = split_table(table)
        schema ? [COLUMNS_OF_ANOTHER, [schema, name] * 3] : [COLUMNS, [name] * 3]
      end

      # (see SQLite#table_query)
      def table_query(table)
        within("SELECT 1 FROM information_schema.tables WHERE table_schema = database() AND table_name = ?", table)
      end

      # (see SQLite#types)
      def types
        TYPES
      end

      # (see SQLite#uuid)
      def uuid
        Sql.new("uuid()")
      end

      private

      # A question about one table, of the connection's own database unless the name says another.
      def within(sql, table)
        schema, name = split_table(table)
        schema ? [sql.sub("database()", "?"), [schema, name]] : [sql, [name]]
      end
    end
  end
end
