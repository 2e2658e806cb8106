# frozen_string_literal: true

# Owns MySQL's and MariaDB's schema file: SHOW CREATE of everything, without what differs from machine to machine.

module AsyncRecord
  class SchemaDump
    # The server writes the statements.
    class MySQL < SchemaDump
      TABLES = <<~SQL.tr("\n", " ").strip.freeze
        SELECT table_name AS name, table_type AS type FROM information_schema.tables WHERE table_schema = DATABASE()
        ORDER BY table_name
      SQL
      TRIGGERS = <<~SQL.tr("\n", " ").strip.freeze
        SELECT trigger_name AS name FROM information_schema.triggers WHERE trigger_schema = DATABASE() ORDER BY trigger_name
      SQL
      ROUTINES = <<~SQL.tr("\n", " ").strip.freeze
        SELECT routine_name AS name, routine_type AS type FROM information_schema.routines
        WHERE routine_schema = DATABASE() ORDER BY routine_type, routine_name
      SQL
      DEFINER = /\sDEFINER=(?:`[^`]*`|\S+?)@(?:`[^`]*`|\S+)/
      private_constant :TABLES, :TRIGGERS, :ROUTINES, :DEFINER

      private

      def table_names
        tables("BASE TABLE")
      end

      def tables(type)
        query(TABLES).select { |row| row["type"] == type }.map { |row| row["name"] }
      end

      # Tables may point to tables further down.
      def sections
        made = (tables("BASE TABLE") - [HIDDEN]).map { |name| "#{show('TABLE', name).sub(/ AUTO_INCREMENT=\d+/, '')};" }
        if made.any? { |sql| sql.include?("FOREIGN KEY") }
          made = ["SET FOREIGN_KEY_CHECKS = 0;", *made, "SET FOREIGN_KEY_CHECKS = 1;"]
        end
        [*made, *query(ROUTINES).map { |row| "#{show(row['type'], row['name'])};" }, *views,
         *query(TRIGGERS).map { |row| "#{show('TRIGGER', row['name'])};" }]
      end

      # One that asks another comes after it.
      def views
        left = tables("VIEW").to_h { |name| [name, show("VIEW", name)] }
        sorted = []
        until left.empty?
          ready = left.reject { |name, sql| (left.keys - [name]).any? { |other| sql.include?(quote(other)) } }
          ready = left if ready.empty?
          ready.each_key { |name| sorted << "#{left.delete(name)};" }
        end
        sorted
      end

      # The statement is the column whose name begins with "Create", or a trigger's "SQL Original Statement".
      def show(kind, name)
        row = query("SHOW CREATE #{kind} #{quote(name)}").first
        key = row.keys.find { |column| column.match?(/\A(?:Create (?!time|d)|SQL Original)/i) }
        without_machine(row.fetch(key).to_s)
      end

      def without_machine(sql)
        sql.sub(DEFINER, "").sub(/\sSQL SECURITY DEFINER/, "").sub(/\sALGORITHM=UNDEFINED/, "")
           .gsub("#{quote(database_name)}.", "")
      end

      def database_name
        @database_name ||= query("SELECT DATABASE() AS name").first["name"]
      end
    end
    private_constant :MySQL
  end
end
