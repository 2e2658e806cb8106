# frozen_string_literal: true

# Owns what JSON shows of a model: which columns, and which associations inside. It checks all names at once, before
# anything is asked. Refuses to fetch and to write.

module AsyncRecord
  # What `to_json_bytes` and `as_json` are told.
  class JsonShape
    OPTIONS = %i[only except include methods].freeze
    private_constant :OPTIONS

    # @return [Array<String>, nil] the columns to show; nil for all
    attr_reader :only
    # @return [Array<String>] the columns to leave out
    attr_reader :except
    # @return [Array<Symbol>] methods of records whose results are shown
    attr_reader :methods
    # @return [Hash{Symbol => JsonShape}] the associations inside
    attr_reader :branches

    class << self
      # @param model [Class]
      # @param preloads [Hash{Symbol => Hash}, nil] what is inside unless `include` says it
      # @param only [Array<Symbol>, Symbol, nil]
      # @param except [Array<Symbol>, Symbol, nil]
      # @param methods [Array<Symbol>, Symbol, nil]
      # @param include [Symbol, Array, Hash, nil] associations, each with options of its own
      # @return [JsonShape]
      # @raise [UnknownColumn, UnknownAssociation, ArgumentError]
      def of(model, preloads: nil, include: nil, **options)
        unknown = options.keys - OPTIONS
        unless unknown.empty?
          raise ArgumentError, "JSON takes only:, except:, methods: and include:, not #{unknown.first.inspect}"
        end

        branches = include.nil? && preloads ? preloaded(model, preloads) : branches(model, include)
        only, except, methods = options.values_at(:only, :except, :methods)
        new(only && names(only), names(except), Array(methods), branches).check(model)
      end

      # @param arguments [Array] what `to_json` and `as_json` were called with
      # @param keywords [Hash]
      # @return [Hash] the options among them; generators pass their own state
      def options_in(arguments, keywords)
        given = arguments.first
        given = given.respond_to?(:to_h) ? given.to_h : {}
        given.slice(*OPTIONS).merge(keywords).compact
      end

      private

      def preloaded(model, tree)
        tree.to_h { |name, below| [name, of(model.reflection(name).klass, preloads: below)] }
      end

      def names(list)
        Array(list).map(&:to_s).freeze
      end

      def branches(model, include)
        case include
        when nil then {}
        when Symbol, String then branch(model, include, {})
        when Array then include.map { |one| branches(model, one) }.reduce({}, :merge)
        when Hash then include.map { |name, options| branch(model, name, options || {}) }.reduce({}, :merge)
        else raise ArgumentError, "include: takes associations, not a #{include.class}"
        end
      end

      def branch(model, name, options)
        unless options.is_a?(Hash)
          raise ArgumentError, "what is inside #{name} is said by options: include: { #{name}: { include: … } }"
        end

        { name.to_sym => of(model.reflection(name).klass, **options) }
      end
    end

    # @api private
    def initialize(only, except, methods, branches)
      @only = only
      @except = except
      @methods = methods.freeze
      @branches = branches.freeze
      freeze
    end

    # @return [self]
    # @raise [UnknownColumn]
    def check(model)
      table = model.table
      (only || except).each { |name| check_column(model, table, name) } if table
      self
    end

    # @return [Boolean] whether rows are enough: nothing is shown that only a record can read or answer
    def rows?(model)
      methods.empty? && model.retyped.keys.none? { |name| shows?(name) } &&
        branches.all? { |name, below| below.rows?(model.reflection(name).klass) }
    end

    # @return [Hash{Symbol => Hash}] what has to be loaded
    def tree
      branches.transform_values(&:tree)
    end

    # @return [Boolean] whether it shows a plain row
    def plain?
      branches.empty?
    end

    # @return [Array<String>] the columns by which the associations are found
    def keys(model)
      branches.keys.map { |name| model.reflection(name).owner_key }.uniq
    end

    # @return [Boolean]
    def shows?(name)
      only ? only.include?(name) : !except.include?(name)
    end

    private

    def check_column(model, table, name)
      return if table[name] || model.attribute?(name)

      near = table.nearest(name)
      raise UnknownColumn, "#{model.table_name} has no column #{name.inspect} to show as JSON" \
                           "#{near && "; did you mean #{near.inspect}?"}"
    end
  end
  private_constant :JsonShape
end
