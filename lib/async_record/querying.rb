# frozen_string_literal: true

# Owns the class side of queries: `User.where` starts a relation, `User.find` asks at once, and scopes give names to
# relations. Scopes and class methods can be called on a relation too; they then see only its rows.

module AsyncRecord
  # What a model class can be asked.
  module Querying
    DELEGATED = %i[
      where not or and reorder limit offset select distinct distinct_on group having joins left_joins
      left_outer_joins associated missing preload includes eager_load strict strict_loading from lock none using
      primary timeout async merge rewhere unscope invert_where reselect regroup reverse_order excluding
      all find find_by find_by! take take! first first! last last! sole find_sole_by
      find_or_create_by find_or_create_by! create_or_find_by create_or_find_by! find_or_initialize_by create create!
      count sum average minimum maximum pluck pick ids exists? any? empty? none? one? many?
      find_each find_in_batches in_batches update_all delete_all destroy_all delete_by destroy_by touch_all increment
      insert_all insert_all! upsert_all upsert to_json_bytes stream stream_json explain
    ].freeze
    SCOPE_NAME = /\A[a-z_]\w*[?!]?\z/
    # Relations that are kept by their order: programs have few, only clients that choose columns could make more.
    ORDERS = 100
    private_constant :DELEGATED, :SCOPE_NAME, :ORDERS

    DELEGATED.each do |name|
      class_eval("def #{name}(...) = relation.#{name}(...)", __FILE__, __LINE__)
    end

    # Sorts, see {Relation#order}. `User.order(:name)` is the same immutable relation each time: nothing is made (six
    # objects).
    # @return [Relation]
    def order(*terms)
      name = terms.first
      return relation.order(*terms) unless terms.size == 1 && name.is_a?(Symbol) && !Context[self]

      @ordered[name] || keep_ordered(name)
    end

    # Runs SQL and returns plain rows. With binds, `?` and `:name` are their places.
    #
    # @example
    #   User.query("select username from users where age > ?", 18) { |rows, error| … }
    # @return [Array<Hash{String => Object}>, Pending]
    def query(sql, *binds, **named, &block)
      database.query(sql, *binds, **named, &block)
    end

    # Makes records of the rows of any SQL.
    #
    # @param sql [String, Sql, Array] an Array holds the SQL and its binds
    # @return [Array<Base>, Pending]
    def find_by_sql(sql, *binds, **named, &block)
      sql, *binds = sql if sql.is_a?(Array)
      if binds.last.is_a?(Hash)
        named = binds.last
        binds = binds[0..-2]
      end
      work = -> { instantiate_all(database.rows(sql, binds, named)) }
      block ? Pending.spawn(block, &work) : work.call
    end

    # Adds to columns of one row, or of several, in the database.
    #
    # @example
    #   Post.update_counters(1, views: 1, likes: -1)
    # @param keys [Object, Array]
    # @param touch [Boolean]
    # @return [Integer, Pending]
    def update_counters(keys, touch: false, **amounts, &block)
      raise ArgumentError, "say update_counters(key, views: 1), or where(…).update_counters" if keys.is_a?(Hash)

      keys = [keys] unless keys.is_a?(Array) && !(key_columns.size > 1 && !keys.first.is_a?(Array))
      relation.where(keys_condition(keys)).update_counters(amounts, touch: touch, &block)
    end

    # Gives a relation a name.
    #
    # @example
    #   scope :recent, -> { order(created_at: :desc).limit(20) }
    #   scope(:by) { |name| where(author: name) }
    # @param body [Proc] runs on the relation; nil stands for the relation itself
    # @return [Symbol]
    def scope(name, body = nil, &block)
      body ||= block
      raise ArgumentError, "a scope has a plain method name, not #{name.inspect}" unless SCOPE_NAME.match?(name)
      raise ArgumentError, "scope :#{name} needs a block" unless body
      raise ArgumentError, "scope :#{name} would hide the method of that name" if respond_to?(name)

      @relation_class.define_method(name) { |*args, **options| instance_exec(*args, **options, &body) || self }
      define_singleton_method(name) { |*args, **options| relation.public_send(name, *args, **options) }
      name
    end

    # @return [Relation] over all rows, or over those of the relation on which the running class method was called
    def relation
      Context[self] || @relation
    end

    # {AsyncRecord.transaction} on this model's database.
    #
    # @return [Object, nil] what the block returns; nil after a {Rollback}
    def transaction(**options, &block)
      AsyncRecord.transaction(database: database, **options, &block)
    end

    # @return [Integer, Pending] {#count}
    def size(&block)
      count(&block)
    end

    # @api private
    # @return [Class] this model's relation class, which knows its scopes
    attr_reader :relation_class

    # Gives a new class its class of relations.
    # @api private
    def prepare_querying
      parent = superclass.respond_to?(:relation_class) && superclass.relation_class
      @relation_class = Class.new(parent || Relation)
      const_set(:QueryRelation, @relation_class)
      private_constant :QueryRelation
      @relation = @relation_class.new(self)
      @ordered = {}
    end

    private

    def keep_ordered(name)
      @ordered.clear if @ordered.size >= ORDERS
      @ordered[name] = @relation.order(name)
    end

    # A class method becomes callable on relations; inside it, the class means the relation.
    def singleton_method_added(name)
      super
      return unless @relation_class && SCOPE_NAME.match?(name)
      return if @relation_class.method_defined?(name) || Base.singleton_class.method_defined?(name) ||
                Base.singleton_class.private_method_defined?(name)

      @relation_class.define_method(name) do |*args, **options, &block|
        Context.with(model, self) { model.public_send(name, *args, **options, &block) }
      end
    end
  end
  private_constant :Querying
end
