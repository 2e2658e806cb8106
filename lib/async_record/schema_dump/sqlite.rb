# frozen_string_literal: true

# Owns SQLite's schema file: the statements as SQLite keeps them, with one column a line.

module AsyncRecord
  class SchemaDump
    # SQLite keeps the text of each statement.
    class SQLite < SchemaDump
      OBJECTS = <<~SQL.tr("\n", " ").strip.freeze
        SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
        ORDER BY name
      SQL
      # A virtual table keeps its data in tables that it makes itself.
      SHADOWS = <<~SQL.tr("\n", " ").strip.freeze
        SELECT name FROM pragma_table_list WHERE type = 'shadow'
      SQL
      private_constant :OBJECTS, :SHADOWS

      private

      def table_names
        query(OBJECTS).select { |row| row["type"] == "table" }.map { |row| row["name"] }
      end

      def sections
        shadows = query(SHADOWS).map { |row| row["name"] } << HIDDEN
        objects = query(OBJECTS).reject { |row| shadows.include?(row["tbl_name"]) }.group_by { |row| row["type"] }
        indexes = objects.fetch("index", []).group_by { |row| row["tbl_name"] }
        objects.fetch("table", []).map { |row| table(row, indexes.fetch(row["name"], [])) } +
          [*objects.fetch("view", []), *objects.fetch("trigger", [])].map { |row| "#{row['sql'].strip};" }
      end

      def table(row, indexes)
        [pretty(row["sql"]), *indexes.map { |index| index["sql"].strip }].map { |sql| "#{sql};" }.join("\n")
      end

      def pretty(sql)
        sql.match?(/\ACREATE\s+TABLE\b/i) ? Migration.const_get(:TableText, false).new(sql).pretty : sql.strip
      end
    end
    private_constant :SQLite
  end
end
