# frozen_string_literal: true

# Owns the description of a query: an immutable value, built step by step, that says nothing to the database until a
# terminal method (to_a, count, pluck, update_all…) is called. Each step returns a new frozen relation.
# Refuses to remember results: ask twice and the database answers twice.

require_relative "join_source"
require_relative "condition"
require_relative "fragment"
require_relative "compiler"
require_relative "shapes"
require_relative "relation/names"
require_relative "relation/text_key"
require_relative "relation/associated"
require_relative "relation/combining"
require_relative "relation/locks"
require_relative "relation/execution"
require_relative "relation/finders"
require_relative "relation/calculations"
require_relative "relation/batches"
require_relative "relation/writes"
require_relative "json_shape"
require_relative "relation/nested_json"
require_relative "relation/output"
require_relative "relation/streaming"

module AsyncRecord
  # A query of one model.
  #
  # Every terminal method has three styles: without a block it waits and returns; with a block it returns a {Pending} at
  # once and the block gets the result later (a second block argument gets the error); after {#async} it returns a
  # {Pending} to be awaited.
  #
  # @example
  #   Post.where(state: "live", created_at: (Time.now - 3600)..).order(created_at: :desc).limit(20).to_a
  #   Post.where("views > ? and lang = :lang", 10, lang: "de").or(Post.where(pinned: true)).pluck(:id, :title)
  class Relation
    EMPTY = [].freeze
    UNNAMED = {}.freeze
    private_constant :EMPTY, :UNNAMED

    require_relative "relation/rewriting"
    include Enumerable
    include TextKey
    include Names
    include Associated
    include Combining
    include Rewriting
    include Execution
    include Finders
    include Calculations
    include Batches
    include Writes
    include Output
    include Streaming

    # @return [Class] the model
    attr_reader :model
    # The parts, for the compiler.
    # @api private
    attr_reader :conditions, :havings, :orders, :groups, :selections, :join_sources, :limit_value, :offset_value,
                :lock_mode, :transaction, :timeout_value, :source

    # @param model [Class]
    # @api private
    def initialize(model)
      @model = model
      @conditions = @havings = @orders = @groups = @join_sources = EMPTY
      @selections = @limit_value = @offset_value = @lock_mode = @transaction = @timeout_value = nil
      @source = @preloads = @origin = nil
      @distinct = @async = @none = @primary = @strict = false
      freeze
    end

    # Narrows the relation. A Hash compares columns (nil, list, range, subquery, or a nested Hash for another table); a
    # String is SQL with binds for its `?` and `:name`.
    #
    # @example
    #   User.where(age: 18.., name: %w[ann bob]).where("email like ?", "%@example.org")
    # @param condition [Hash, String, Sql, Relation, nil]
    # @return [Relation]
    def where(condition = nil, *binds, **named)
      nodes = nodes_for(condition, binds, named)
      return self if nodes.empty?

      with(:@conditions, (@conditions.empty? ? nodes : @conditions + nodes).freeze)
    end

    # Keeps the rows for which the conditions do not all hold; takes what {#where} takes.
    #
    # @return [Relation]
    def not(condition = nil, *binds, **named)
      nodes = nodes_for(condition, binds, named)
      nodes.empty? ? self : with(:@conditions, [*@conditions, Condition::Not.new(nodes)].freeze)
    end

    # Sorts. Names sort ascending; a Hash says the direction, or `{ desc: …, nulls: :last }` in full.
    #
    # @example
    #   User.order(:name, created_at: :desc)
    #   User.order("age desc", seen_at: { desc: true, nulls: :last })
    #   User.order(AsyncRecord.sql("length(name)"))
    # @return [Relation]
    def order(*terms)
      terms = order_terms(terms)
      return self if terms.empty?

      with(:@orders, (@orders.empty? ? terms : @orders + terms).freeze)
    end

    # Sorts anew, forgetting earlier orders.
    # @return [Relation]
    def reorder(*terms)
      with(:@orders, order_terms(terms).freeze)
    end

    # Turns every order around; without one, sorts by the primary key backwards.
    # @return [Relation]
    def reverse_order
      orders = @orders.empty? ? order_terms(model.key_columns) : @orders
      with(:@orders, orders.map { |term| reverse_term(term) }.freeze)
    end

    # @param count [Integer, nil] rows at most; nil takes the limit away
    # @return [Relation]
    def limit(count)
      with(:@limit_value, count && non_negative(count, "limit"))
    end

    # @param count [Integer, nil] rows to skip
    # @return [Relation]
    def offset(count)
      with(:@offset_value, count && non_negative(count, "offset"))
    end

    # Chooses columns; with a block, filters the loaded records as Array does.
    #
    # @example
    #   User.select(:id, :name)
    #   User.select(:id, AsyncRecord.sql("length(name) as size"))
    #   User.select(name: :title)        # "name" AS "title"
    # @return [Relation, Array]
    def select(*columns, &block)
      return to_a.select(&block) if block

      aliases = columns.pop if columns.last.is_a?(Hash)
      chosen = column_names(columns, "select")
      chosen += aliased(aliases) if aliases
      with(:@selections, (@selections ? @selections + chosen : chosen).freeze)
    end

    # @return [Relation] without repeated rows
    def distinct(value = true) # rubocop:disable Style/OptionalBooleanParameter -- as ActiveRecord has it
      with(:@distinct, value)
    end

    # Keeps the first row of each group of equal values, by the order; PostgreSQL only.
    #
    # @example
    #   Post.distinct_on(:user_id).order(:user_id, created_at: :desc)      # each user's latest
    # @return [Relation]
    def distinct_on(*columns)
      with(:@distinct, column_names(columns, "distinct_on").freeze)
    end

    # Reads from a subquery instead of the table.
    #
    # @example
    #   Post.from(Post.order(views: :desc).limit(10)).where(state: "live")   # of the ten, those that are live
    # @param source [Relation, Sql] has the table's columns, and takes its name
    # @return [Relation]
    def from(source)
      return with(:@source, source) if source.is_a?(Relation) || source.is_a?(Sql)

      raise UnsafeSql, "from takes a relation or AsyncRecord.sql(\"SELECT …\"), not #{source.inspect}"
    end

    # @return [Relation]
    def group(*columns)
      with(:@groups, (@groups + column_names(columns, "group")).freeze)
    end

    # Narrows the groups; takes what {#where} takes.
    # @return [Relation]
    def having(condition, *binds, **named)
      with(:@havings, (@havings + nodes_for(condition, binds, named)).freeze)
    end

    # Locks the rows read until the transaction ends, where the database has row locks (SQLite has none: it has one
    # writer at a time).
    #
    # @example
    #   Job.where(state: "new").order(:id).lock("FOR UPDATE SKIP LOCKED").first
    # @param mode [true, Symbol, String] true, :share, :nowait, :skip_locked, :no_key_update, :key_share, or the clause
    # @return [Relation]
    # @raise [UnsafeSql]
    def lock(mode = true) # rubocop:disable Style/OptionalBooleanParameter -- as ActiveRecord has it
      with(:@lock_mode, Lock.read(mode))
    end

    # @return [Relation] that matches nothing and asks nothing
    def none
      with(:@none, true)
    end

    # Runs on a transaction's connection. Inside {AsyncRecord.transaction} this happens by itself.
    #
    # @param transaction [Transaction, nil]
    # @return [Relation]
    def using(transaction)
      with(:@transaction, transaction)
    end

    # Reads from the primary where the database has replicas, see {AsyncRecord.using_primary}.
    #
    # @return [Relation]
    def primary
      with(:@primary, true)
    end

    # @param seconds [Numeric, nil] after which a statement of this relation is cancelled
    # @return [Relation]
    def timeout(seconds)
      with(:@timeout_value, seconds)
    end

    # Makes every terminal method return a {Pending} at once, in the style of promises.
    #
    # @example
    #   users = User.async.limit(10).to_a
    #   count = User.async.count
    #   [users.await, count.await]
    # @return [Relation]
    def async
      with(:@async, true)
    end

    # @return [Relation] itself, so that a class and a relation can be used alike
    def all(options = nil, **keywords, &block)
      relation = options || !keywords.empty? ? narrowed(**(options || {}), **keywords) : self
      block ? relation.to_a(&block) : relation
    end

    # @return [Boolean]
    def distinct?
      @distinct ? true : false
    end

    # @api private
    # @return [Array, nil] those of {#distinct_on}
    def distinct_columns
      @distinct if @distinct.is_a?(Array)
    end

    # @return [Boolean]
    def async?
      @async
    end

    # @api private
    # @return [Boolean] whether UPDATE and DELETE need a subquery
    def complex?
      !(@limit_value.nil? && @offset_value.nil? && @groups.empty? && @join_sources.empty? && !@distinct && @source.nil?)
    end

    # @api private
    # @return [Boolean] whether nothing narrows it at all
    def bare?
      @conditions.empty? && @orders.empty? && @selections.nil? && !complex? && @lock_mode.nil? && !@none &&
        @preloads.nil? && !@strict
    end

    protected

    # A copy with one thing changed.
    def with(name, value)
      copy = dup
      copy.instance_variable_set(name, value)
      copy.freeze
    end

    private

    def aliased(aliases)
      aliases.map { |column, as| [column_name(column, "select"), as.to_s.freeze].freeze }
    end

    def nodes_for(condition, binds, named)
      return Condition.build(resolve_associations(named), EMPTY, UNNAMED) if condition.nil?

      condition = resolve_associations(condition) if condition.is_a?(Hash)
      Condition.build(condition, binds, named)
    end

    def narrowed(limit: nil, offset: nil, order: nil)
      relation = self
      relation = relation.order(*order) if order
      relation = relation.limit(limit) if limit
      offset ? relation.offset(offset) : relation
    end
  end
end
