# frozen_string_literal: true

# Owns what a relation says about associations: what it joins, what it loads along, whether records may load more by
# themselves, and conditions that name an association instead of a column.
# Refuses to join for the sake of loading: whatever is loaded along comes by queries of its own, side by side.

module AsyncRecord
  class Relation
    # Associations in queries.
    module Associated
      # Joins associations (INNER JOIN), or what was written by hand. Conditions and orders then name the association or
      # its table.
      #
      # @example
      #   Post.joins(:comments).where(comments: { state: 1 }).distinct
      #   Post.joins(comments: :author).where(author: { name: "ann" }).order("comments.created_at desc")
      #   User.joins(AsyncRecord.sql("INNER JOIN posts ON posts.user_id = users.id"))
      # @param sources [Array<Symbol, Array, Hash, Sql>]
      # @return [Relation]
      # @raise [UnknownAssociation]
      def joins(*sources, **nested)
        join(:inner, nested.empty? ? sources : [*sources, nested])
      end

      # Joins associations and keeps rows that have none (LEFT OUTER JOIN).
      #
      # @return [Relation]
      def left_joins(*sources, **nested)
        join(:left, nested.empty? ? sources : [*sources, nested])
      end
      alias left_outer_joins left_joins

      # Keeps the records that have something there, without joining: each comes once.
      #
      # @example
      #   Post.where.associated(:comments)
      # @return [Relation]
      def associated(*names)
        with(:@conditions, (@conditions + names.map { |name| existence(name) }).freeze)
      end

      # Keeps the records that have nothing there.
      #
      # @return [Relation]
      def missing(*names)
        nots = names.map { |name| Condition::Not.new([existence(name)]) }
        with(:@conditions, (@conditions + nots).freeze)
      end

      # Loads associations together with the records: one query for each, those that do not need each other at once,
      # each on a connection of its own (inside a transaction one after the other).
      #
      # @example
      #   Post.preload(:user, comments: :author).each { |post| post.user.name }
      # @return [Relation]
      # @raise [UnknownAssociation]
      def preload(*names, **nested)
        tree = Tree.of(*names, nested)
        Preloader.check(model, tree)
        with(:@preloads, Tree.merge(@preloads || Tree::EMPTY, tree))
      end
      alias includes preload
      alias eager_load preload

      # Makes records that refuse to load associations by themselves: what is needed has to be preloaded.
      #
      # @return [Relation]
      def strict(value = true) # rubocop:disable Style/OptionalBooleanParameter -- like distinct
        with(:@strict, value)
      end
      alias strict_loading strict

      # @api private
      # @return [Hash{Symbol => Hash}, nil]
      attr_reader :preloads

      # @api private
      # @return [Boolean]
      def strict?
        @strict
      end

      # @api private
      # @param column [String]
      # @return [Array(Array<Base>, Array<Object>)] the records, and each one's value of a column
      def with_values_of(column)
        chosen = selections&.map(&:to_s)
        chosen && !chosen.include?(column) ? select(column).records_and(column) : records_and(column)
      end

      # @api private
      # @param columns [Array<String, Array(String, String)>] of the table or of a joined one
      # @return [AsyncRecord::Rows] nothing but these values
      def rows_of_columns(*columns)
        run(select_with(->(sql) { sql.join(columns, ", ") { |column| sql.expression(column) } }))
      end

      # @api private
      # @return [Relation] of what belongs to a record that may have no key yet
      def where_owner(association, column)
        with(:@conditions, [*@conditions, Condition::OfOwner.new(association, column)].freeze)
      end

      # @api private
      # @return [Relation] that makes records for an owner
      def for_owner(association)
        with(:@origin, association)
      end

      # @api private
      # @return [Relation] joined to tables that the program did not name
      def joined_by(source, conditions = [], orders = [])
        with(:@join_sources, [*@join_sources, source].freeze)
          .with(:@conditions, [*@conditions, *conditions].freeze)
          .with(:@orders, [*@orders, *orders].freeze)
      end

      protected

      def records_and(column)
        rows = run(select_statement)
        index = rows.columns.index(column)
        [instantiate(rows), index ? rows.values_at_column(index) : []]
      end

      # @return [Array<Base>] of the rows, with what is to be loaded along
      def instantiate(rows)
        records = model.instantiate_all(rows, @selections.nil?)
        records.each(&:strict!) if @strict
        return records if @preloads.nil? || records.empty?

        transaction = @transaction
        return Preloader.run(records, @preloads, strict: @strict) && records unless transaction

        Context.with(transaction.database, transaction) { Preloader.run(records, @preloads, strict: @strict) }
        records
      end

      # @return [Base, nil] of the first row
      def instantiate_one(rows)
        return instantiate(rows).first if @selections || @strict || @preloads

        model.instantiate_first(rows)
      end

      private

      # @return [Boolean] whether making records needs more queries
      def accompanied?
        !@preloads.nil?
      end

      def join(kind, sources)
        added = sources.flatten.map do |source|
          next source if source.is_a?(Sql)

          JoinSource::Named.new(kind, named_tree(source)).freeze
        end
        with(:@join_sources, [*@join_sources, *added].freeze)
      end

      def named_tree(source)
        if source.is_a?(String)
          raise UnsafeSql, "joins takes associations (joins(:comments)) or AsyncRecord.sql(\"INNER JOIN … ON …\"), " \
                           "not #{source.inspect}"
        end
        Tree.of(source).tap { |tree| Preloader.check(model, tree) }
      end

      def existence(name)
        Condition::Existence.new(model, model.reflection(name))
      end

      # A Hash may name associations, with a record, a list of records, a relation, or a Hash about the other table,
      # which may do the same.
      def resolve_associations(pairs, model = self.model)
        return pairs if model.reflections.empty? || pairs.none? { |name, _| association_named?(model, name) }

        pairs.to_h do |name, value|
          association_named?(model, name) ? associated_pair(model.reflection(name), name, value) : [name, value]
        end
      end

      def association_named?(model, name)
        model.association?(name) && !(model.known_table && model.known_table[name])
      end

      # `where(user: user)` compares the keys.
      def associated_pair(reflection, name, value)
        return [name, resolve_associations(value, reflection.klass)] if value.is_a?(Hash)

        if reflection.through? || (value.nil? && !reflection.belongs_to?)
          raise ArgumentError, "where(#{name}: …) compares keys, and #{reflection} has none here; " \
                               "say where.missing(:#{name}), where.associated(:#{name}) or joins(:#{name})"
        end
        [reflection.owner_key, key_of(reflection, value)]
      end

      def key_of(reflection, value)
        case value
        when nil then nil
        when Relation then value.selections ? value : value.select(reflection.target_key)
        when Array then value.map { |one| key_of(reflection, one) }
        when reflection.klass then value[reflection.target_key]
        when Base
          raise ArgumentError, "where(#{reflection.name}: …) takes a #{reflection.klass}, not a #{value.class}"
        else value
        end
      end
    end
    private_constant :Associated
  end
end
