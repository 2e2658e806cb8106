# frozen_string_literal: true

# Owns the way from associations to JOIN clauses and EXISTS conditions: which table stands under which name, what it is
# joined on, and the conditions of scopes. A table that occurs twice gets a number (`users_2`).
# Refuses scopes that a join cannot express (limit, group, joins of their own).

require_relative "../join_source"

module AsyncRecord
  class Compiler
    # Writes joins.
    class Joins
      KEYWORDS = { inner: " INNER JOIN ", left: " LEFT OUTER JOIN " }.freeze
      # One clause: the table that is added, the column it is found by, and what that column has to equal.
      Clause = Struct.new(:kind, :reflection, :scopes, :table, :column, :known)
      private_constant :KEYWORDS, :Clause

      # @param compiler [Compiler]
      # @param model [Class] whose table stands in FROM
      def initialize(compiler, model)
        @compiler = compiler
        @dialect = compiler.dialect
        @model = model
        @source = compiler.table || table_of(model)
        @taken = [@source.name, *compiler.tables.each_value.map(&:name)]
        @paths = {}
        @clauses = []
      end

      # Gives every table its name, so that the list of columns, which stands before the joins, can use it.
      #
      # @param sources [Array<Sql, JoinSource>]
      # @return [self]
      def plan(sources)
        sources.each { |source| source.is_a?(Sql) ? @clauses << source : source.plan(self) }
        self
      end

      # @return [void]
      def write
        @clauses.each { |clause| clause.is_a?(Sql) ? raw(clause) : write_clause(clause) }
      end

      # @param tree [Hash{Symbol => Hash}]
      # @return [void]
      def named(kind, tree, model = @model, from = @source, path = [])
        tree.each do |name, below|
          here = [*path, name]
          reflection = model.reflection(name)
          table = @paths[here] ||= follow(kind, reflection, from, here)
          named(kind, below, reflection.klass, table, here)
        end
      end

      # @return [void]
      def back(chain)
        last = chain.size - 1
        last.downto(1).reduce(@source) do |table, index|
          (step,), (before, scopes) = chain.values_at(index, index - 1)
          added = named_table(before.klass)
          @clauses << Clause.new(:inner, before, scopes, added, step.owner_key, [table, step.target_key])
          name(JoinSource.via(index - 1), added)
          added
        end
      end

      # @return [void]
      def onward(steps)
        last = steps.reduce(@source) { |table, (step, scopes)| step(:inner, step, scopes, table) }
        name(JoinSource::LAST, last)
      end

      # Writes the test whether an association leads anywhere.
      #
      # @param reflection [Associations::Reflection]
      # @return [void]
      def existence(reflection)
        (first, scopes), *rest = reflection.chain
        table = named_table(first.klass)
        rest.reduce(table) { |before, (step, below)| step(:inner, step, below, before) }
        @compiler << "EXISTS (SELECT 1 FROM " << source_of(first.klass, table)
        write
        @compiler << " WHERE " << @compiler.column_of(table, first.target_key) << " = " <<
          @compiler.column_of(@source, first.owner_key)
        conditions(first, scopes, table)
        @compiler << ")"
      end

      private

      def follow(kind, reflection, from, path)
        table = reflection.chain.reduce(from) { |before, (step, scopes)| step(kind, step, scopes, before) }
        name(path.last.to_s, table)
        name(reflection.klass.table_name, table)
        name(@dialect.split_table(reflection.klass.table_name).last, table)
        table
      end

      def step(kind, reflection, scopes, from)
        table = named_table(reflection.klass)
        @clauses << Clause.new(kind, reflection, scopes, table, reflection.target_key, [from, reflection.owner_key])
        table
      end

      def raw(clause)
        @compiler << " "
        @compiler.expression(clause)
      end

      def write_clause(clause)
        @compiler << KEYWORDS.fetch(clause.kind) << source_of(clause.reflection.klass, clause.table) << " ON " <<
          @compiler.column_of(clause.table, clause.column) << " = " << @compiler.column_of(*clause.known)
        conditions(clause.reflection, clause.scopes, clause.table)
      end

      def source_of(klass, table)
        return table.quoted_name if klass.table_name == table.name

        "#{@dialect.quote_table(klass.table_name)} #{table.quoted_name}"
      end

      # The conditions of scopes stand in ON, so that an outer join keeps the rows that have none.
      def conditions(reflection, scopes, table)
        return if scopes.empty?

        relation = scopes.reduce(reflection.klass.bare_relation) { |base, scope| scoped(reflection, base, scope) }
        check(reflection, relation)
        inner = @compiler.for_table(table)
        relation.conditions.each do |condition|
          @compiler << " AND "
          condition.write(inner)
        end
      end

      def scoped(reflection, base, scope)
        return base.instance_exec(&scope) || base if scope.arity.zero?

        raise AssociationError, "the scope of #{reflection} takes its owner, so it cannot be joined"
      end

      def check(reflection, relation)
        return if relation.limit_value.nil? && relation.groups.empty? && relation.join_sources.empty?

        raise AssociationError, "the scope of #{reflection} has a limit, a group or joins, so it cannot be joined; " \
                                "write the join with AsyncRecord.sql"
      end

      # The first table to get a name keeps it.
      def name(text, table)
        @compiler.tables[text] ||= table unless text == @source.name
      end

      # @return [Table] under a name that the statement has not used yet
      def named_table(klass)
        plain = table_of(klass)
        name = plain.name
        base = @dialect.split_table(name).last
        number = 1
        name = "#{base}_#{number += 1}" while @taken.include?(name)
        @taken << name
        name == plain.name ? plain : Table.new(name, plain.columns, @dialect)
      end

      def table_of(klass)
        known = @compiler.known_only? ? klass.known_table : klass.table
        known || Table.new(klass.table_name, [], @dialect)
      end
    end
  end
end
