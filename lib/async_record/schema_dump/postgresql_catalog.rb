# frozen_string_literal: true

# Owns the questions to PostgreSQL's catalog from which the schema file is made. What belongs to an extension is left
# to it. Every name is cast to text: the catalog's own types are no one's business.

module AsyncRecord
  class SchemaDump
    # SQL that reads the current schema.
    module PostgreSQLCatalog
      HERE = "(SELECT oid FROM pg_namespace WHERE nspname = current_schema())"
      OWN = "NOT EXISTS (SELECT 1 FROM pg_depend e WHERE e.objid = %s.oid AND e.deptype = 'e')"
      private_constant :HERE, :OWN

      EXTENSIONS = "SELECT extname::text AS name FROM pg_extension WHERE extname <> 'plpgsql' ORDER BY 1"

      ENUMS = <<~SQL.freeze
        SELECT t.typname::text AS name, string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder) AS labels
        FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid
        WHERE t.typnamespace = #{HERE} AND #{format(OWN, 't')} GROUP BY t.typname ORDER BY 1
      SQL

      DOMAINS = <<~SQL.freeze
        SELECT t.typname::text AS name, format_type(t.typbasetype, t.typtypmod) AS type, t.typnotnull AS not_null,
        t.typdefault AS default_value, (SELECT string_agg('CONSTRAINT ' || quote_ident(c.conname) || ' ' ||
        pg_get_constraintdef(c.oid), ' ' ORDER BY c.conname) FROM pg_constraint c WHERE c.contypid = t.oid
        AND c.contype = 'c') AS checks
        FROM pg_type t WHERE t.typtype = 'd' AND t.typnamespace = #{HERE} AND #{format(OWN, 't')} ORDER BY 1
      SQL

      SEQUENCES = <<~SQL.freeze
        SELECT c.relname::text AS name, format_type(s.seqtypid, NULL) AS type, s.seqincrement AS step,
        s.seqstart AS start, s.seqcycle AS cycle, o.relname::text AS owner_table, a.attname::text AS owner_column
        FROM pg_class c JOIN pg_sequence s ON s.seqrelid = c.oid
        LEFT JOIN pg_depend d ON d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'a'
        LEFT JOIN pg_class o ON o.oid = d.refobjid
        LEFT JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
        WHERE c.relnamespace = #{HERE} AND #{format(OWN, 'c')}
        AND NOT EXISTS (SELECT 1 FROM pg_depend i WHERE i.objid = c.oid AND i.deptype = 'i') ORDER BY 1
      SQL

      # Those that take or give rows of a table can only come after it.
      FUNCTIONS = <<~SQL.freeze
        SELECT pg_get_functiondef(p.oid) AS sql, EXISTS (SELECT 1 FROM pg_depend d JOIN pg_type t ON t.oid = d.refobjid
        WHERE d.objid = p.oid AND d.refclassid = 'pg_type'::regclass AND t.typrelid <> 0) AS needs_table
        FROM pg_proc p WHERE p.pronamespace = #{HERE} AND p.prokind IN ('f', 'p') AND #{format(OWN, 'p')}
        ORDER BY p.proname, pg_get_function_identity_arguments(p.oid)
      SQL

      TABLES = <<~SQL.freeze
        SELECT c.relname::text AS name, c.relpersistence = 'u' AS unlogged, pg_get_partkeydef(c.oid) AS partition_key,
        CASE WHEN c.relispartition THEN (SELECT p.relname::text FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent
        WHERE i.inhrelid = c.oid) END AS parent, pg_get_expr(c.relpartbound, c.oid) AS bound,
        CASE WHEN c.relispartition THEN (SELECT count(*) FROM pg_partition_ancestors(c.oid)) ELSE 0 END AS level
        FROM pg_class c WHERE c.relkind IN ('r', 'p') AND c.relnamespace = #{HERE} AND #{format(OWN, 'c')} ORDER BY 1
      SQL

      COLUMNS = <<~SQL.freeze
        SELECT c.relname::text AS table, a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS type,
        a.attnotnull AS not_null, a.attidentity::text AS identity, a.attgenerated::text AS generated,
        pg_get_expr(d.adbin, d.adrelid) AS default_value,
        CASE WHEN a.attcollation <> t.typcollation THEN (SELECT quote_ident(collname) FROM pg_collation l
        WHERE l.oid = a.attcollation) END AS collation
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE c.relkind IN ('r', 'p') AND c.relnamespace = #{HERE} AND a.attnum > 0 AND NOT a.attisdropped
        ORDER BY 1, a.attnum
      SQL

      CONSTRAINTS = <<~SQL.freeze
        SELECT c.relname::text AS table, k.conname::text AS name, k.contype::text AS kind, k.convalidated AS valid,
        pg_get_constraintdef(k.oid) AS sql
        FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
        WHERE k.connamespace = #{HERE} AND k.contype IN ('p', 'u', 'x', 'c', 'f') AND k.conislocal AND k.conparentid = 0
        ORDER BY 1, 2
      SQL

      INDEXES = <<~SQL.freeze
        SELECT c.relname::text AS table, pg_get_indexdef(i.indexrelid) AS sql
        FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
        WHERE c.relnamespace = #{HERE} AND i.indisvalid AND NOT x.relispartition
        AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
        ORDER BY 1, x.relname
      SQL

      # In the order in which they were made: one that asks another is younger.
      VIEWS = <<~SQL.freeze
        SELECT c.relname::text AS name, c.relkind = 'm' AS materialized, pg_get_viewdef(c.oid) AS sql
        FROM pg_class c WHERE c.relkind IN ('v', 'm') AND c.relnamespace = #{HERE} AND #{format(OWN, 'c')} ORDER BY c.oid
      SQL

      TRIGGERS = <<~SQL.freeze
        SELECT pg_get_triggerdef(g.oid) AS sql FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
        WHERE NOT g.tgisinternal AND c.relnamespace = #{HERE} AND g.tgparentid = 0 ORDER BY c.relname, g.tgname
      SQL

      COMMENTS = <<~SQL.freeze
        SELECT c.relname::text AS table, a.attname::text AS column, d.description AS comment
        FROM pg_description d JOIN pg_class c ON c.oid = d.objoid AND d.classoid = 'pg_class'::regclass
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.objsubid AND d.objsubid > 0
        WHERE c.relnamespace = #{HERE} AND c.relkind IN ('r', 'p') ORDER BY 1, d.objsubid
      SQL
    end
    private_constant :PostgreSQLCatalog
  end
end
