# frozen_string_literal: true

# Owns what a declared association means: which class, which two columns, which scope, which association points back.
# Nothing is resolved before it is asked for, so that models may name classes that are loaded later.
# Refuses to load or change records.

module AsyncRecord
  module Associations
    # One declared association. It joins `owner_key` of the declaring model's table to `target_key` of the other's.
    class Reflection
      COMMON = %i[class_name foreign_key primary_key inverse_of].freeze
      OPTIONS = {
        belongs_to: COMMON + %i[optional required counter_cache touch],
        has_one: COMMON + %i[dependent through source],
        has_many: COMMON + %i[dependent through source]
      }.freeze
      DEPENDENT = %i[destroy delete_all nullify restrict_with_error restrict_with_exception].freeze
      # What people look for, and what to do instead.
      REFUSED = {
        polymorphic: "polymorphic associations come in a later version; use one belongs_to per class, each with " \
                     "optional: true",
        as: "polymorphic associations come in a later version; use one foreign key per class",
        source_type: "polymorphic associations come in a later version; use one foreign key per class",
        autosave: "saving a record saves what is new below it; changed records are saved by themselves",
        foreign_type: "polymorphic associations come in a later version; use one foreign key per class"
      }.freeze
      private_constant :COMMON, :OPTIONS, :DEPENDENT, :REFUSED

      # @return [Class] the declaring model
      attr_reader :owner
      # @return [Symbol]
      attr_reader :name
      # @return [Symbol] :belongs_to, :has_one or :has_many
      attr_reader :kind
      # @return [Proc, nil] narrows the other model's relation
      attr_reader :scope
      # @return [Hash{Symbol => Object}]
      attr_reader :options

      # @return [Reflection] of the class that fits the options
      def self.make(owner, kind, name, scope, options)
        (options[:through] ? Through : self).new(owner, kind, name, scope, options)
      end

      def initialize(owner, kind, name, scope, options)
        @owner = owner
        @kind = kind
        @name = name.to_sym
        @scope = scope
        @options = options
        check
      end

      # @return [Boolean] whether it stands for a list
      def many?
        kind == :has_many
      end

      # @return [Boolean] whether the foreign key is in the declaring model's table
      def belongs_to?
        kind == :belongs_to
      end

      # @return [Boolean]
      def through?
        false
      end

      # @return [Class] the other model
      # @raise [AssociationError] if there is no such class
      def klass
        @klass ||= resolve(class_name)
      end

      # @return [String]
      def foreign_key
        @foreign_key ||= (options[:foreign_key] || default_foreign_key).to_s.freeze
      end

      # @return [String] the column of the declaring model's table
      def owner_key
        @owner_key ||= belongs_to? ? foreign_key : (options[:primary_key] || owner.single_key(to_s)).to_s.freeze
      end

      # @return [String] the column of the other model's table
      def target_key
        @target_key ||= belongs_to? ? (options[:primary_key] || klass.single_key(to_s)).to_s.freeze : foreign_key
      end

      # @return [Reflection, nil] the association of the other model that leads back
      def inverse
        return @inverse if defined?(@inverse)

        @inverse = named_inverse || found_inverse
      end

      # @return [Boolean] whether the other model is this one or above it; false if there is no such class
      def leads_to?(model)
        model <= klass
      rescue AssociationError
        false
      end

      # @param name [String] with or without the schema
      # @return [Boolean] whether it is the other model's table; false if there is no such class
      def table?(name)
        klass.table_name == name || klass.table_name.end_with?(".#{name}")
      rescue AssociationError
        false
      end

      # @return [String, nil] the column of the other table that counts the records of this one
      def counter_column
        counter = options[:counter_cache]
        return counter ? counter.to_s : nil unless counter == true

        "#{owner.name ? Inflector.table_name(owner.name) : owner.table_name}_count"
      end

      # @return [Array<Array(Reflection, Array<Proc>)>] the steps from the owner to the target, each with the scopes of
      #   its target
      def chain
        @chain ||= [[self, [scope].compact].freeze].freeze
      end

      # @param relation [Relation] of the other model
      # @param record [Base, nil] for a scope that takes its owner
      # @return [Relation]
      def scoped(relation, record = nil)
        return relation if scope.nil?

        (scope.arity.zero? ? relation.instance_exec(&scope) : relation.instance_exec(record, &scope)) || relation
      end

      # @return [Relation] of the other model: all that any owner could have
      # @raise [AssociationError] if the scope needs one owner
      def unowned
        if scope&.arity&.positive?
          raise AssociationError, "the scope of #{self} takes its owner, so it can be neither preloaded nor joined"
        end

        scoped(klass.bare_relation)
      end

      # @return [Boolean] whether many owners' records can be loaded by one query
      def batchable?
        return @batchable if defined?(@batchable)

        @batchable = chain.all? { |_, scopes| scopes.all? { |scope| scope.arity.zero? } } && whole?(unowned)
      end

      # The value of the owner's key as the other column has it, so that "7" finds 7.
      #
      # @return [Object]
      def cast_key(value)
        kind = klass.table && klass.table[target_key]&.kind
        kind.nil? || kind == :any || value.nil? ? value : Type.cast(kind, value)
      end

      # @return [String] as in "Post#comments"
      def to_s
        "#{owner.name || owner.table_name}##{name}"
      end

      # @return [String]
      def inspect
        "#<#{self.class} #{kind} #{self}>"
      end

      private

      def check
        options.each_key do |option|
          raise ArgumentError, "#{self}: #{REFUSED[option]}" if REFUSED.key?(option)
          next if OPTIONS.fetch(kind).include?(option)

          raise ArgumentError, "#{kind} takes no #{option}: (#{self}); it takes #{OPTIONS.fetch(kind).join(', ')}"
        end
        check_values
      end

      def check_values
        raise ArgumentError, "#{self}: composite foreign keys are not supported" if options[:foreign_key].is_a?(Array)
        raise ArgumentError, "#{self}: a scope is a lambda" unless scope.nil? || scope.is_a?(Proc)

        dependent = options[:dependent]
        return if dependent.nil? || DEPENDENT.include?(dependent)

        raise ArgumentError, "#{self}: dependent: is one of #{DEPENDENT.join(', ')}, not #{dependent.inspect}"
      end

      def class_name
        (options[:class_name] || Inflector.camelize(many? ? Inflector.singularize(name.to_s) : name.to_s)).to_s
      end

      # As Ruby would find the constant from within the declaring class.
      def resolve(class_name)
        spaces = owner.name.to_s.split("::")
        candidates = spaces.size.downto(1).map { |size| [*spaces.first(size), class_name].join("::") } + [class_name]
        found = candidates.filter_map { |candidate| constant(candidate) }.find { |one| one.is_a?(Class) && one < Base }
        found || raise(AssociationError, "#{self} stands for the class #{class_name}, and there is no such model; " \
                                         "name another one with class_name: \"…\"")
      end

      def constant(path)
        Object.const_get(path, false)
      rescue NameError => error
        # A file that is loaded by its name may have an error of its own, which must not look like a missing class.
        raise unless path.split("::").include?(error.name.to_s)
      end

      def default_foreign_key
        return "#{name}_id" if belongs_to?
        raise AssociationError, "#{self} needs foreign_key:, because its class has no name" unless owner.name

        "#{Inflector.underscore(owner.name.split('::').last)}_id"
      end

      def named_inverse
        inverse = options[:inverse_of]
        inverse ? klass.reflection(inverse) : nil
      end

      # The association of the other model that uses the same columns the other way round.
      def found_inverse
        return if options[:inverse_of] == false

        klass.reflections.each_value.find { |other| !other.through? && other.scope.nil? && reverses?(other) }
      end

      def reverses?(other)
        belongs_to? != other.belongs_to? && other.foreign_key == foreign_key && other.options[:inverse_of] != false &&
          other.leads_to?(owner) && other.owner_key == target_key && other.target_key == owner_key
      end

      def whole?(relation)
        relation.limit_value.nil? && relation.offset_value.nil? && relation.groups.empty?
      end
    end
  end
end
