# frozen_string_literal: true

# Owns the declaring of associations and the way to them by name. What a declaration means is in Reflection, what a
# record holds in One and Many, the loading in Batch and Preloader. Refuses what this release has not: polymorphic
# associations and tables without a model between two others.

require_relative "associations/reflection"
require_relative "associations/through"
require_relative "associations/sharing"
require_relative "associations/children"
require_relative "associations/batch"
require_relative "associations/holder"
require_relative "associations/one"
require_relative "associations/many"
require_relative "associations/collection"
require_relative "associations/accessors"
require_relative "associations/preloader"
require_relative "associations/saving"
require_relative "associations/dependents"
require_relative "associations/parents"

module AsyncRecord
  # How models belong together.
  module Associations
    include Saving
    include Dependents
    include Parents

    PLAIN_NAME = /\A[a-z_]\w*\z/
    FIRST = Mutex.new
    private_constant :PLAIN_NAME, :FIRST

    # What a model declares.
    module ClassMethods
      # One record that this one's foreign key names. Unless `optional: true`, a record without it is invalid.
      #
      # @example
      #   belongs_to :user
      #   belongs_to :author, class_name: "User", optional: true, counter_cache: true, touch: true
      # @param scope [Proc, nil] narrows the other model: `-> { where(active: true) }`
      # @return [Symbol]
      def belongs_to(name, scope = nil, **options)
        reflection = associate(:belongs_to, name, scope, options)
        require_parent(reflection) unless options.fetch(:optional) { options[:required] == false }
        name.to_sym
      end

      # Many records whose foreign key names this one.
      #
      # @example
      #   has_many :comments, dependent: :delete_all
      #   has_many :recent_comments, -> { order(created_at: :desc) }, class_name: "Comment"
      #   has_many :tags, through: :taggings
      # @return [Symbol]
      def has_many(name, scope = nil, **options) # rubocop:disable Naming/PredicateName -- the name people know
        associate(:has_many, name, scope, options)
        name.to_sym
      end

      # The one record whose foreign key names this one.
      #
      # @return [Symbol]
      def has_one(name, scope = nil, **options) # rubocop:disable Naming/PredicateName -- the name people know
        associate(:has_one, name, scope, options)
        name.to_sym
      end

      # @raise [ArgumentError] always: a table between two others has a model here
      def has_and_belongs_to_many(name, *) # rubocop:disable Naming/PredicateName -- the name people know
        raise ArgumentError, "has_and_belongs_to_many :#{name} is not supported; give the table between a model: " \
                             "has_many :links and has_many :#{name}, through: :links"
      end

      # @return [Hash{Symbol => Associations::Reflection}] what this class and its superclasses declare
      def reflections
        @reflections ||=
          (superclass.respond_to?(:reflections) ? superclass.reflections : {}).merge(@own_reflections || {}).freeze
      end

      # @param name [Symbol, String]
      # @return [Associations::Reflection]
      # @raise [UnknownAssociation]
      def reflection(name)
        reflections[name.to_sym] || unknown_association(name)
      end
      alias reflect_on_association reflection

      # @param name [Object]
      # @return [Boolean]
      def association?(name)
        name.is_a?(Symbol) ? reflections.key?(name) : name.is_a?(String) && reflections.key?(name.to_sym)
      end

      # The columns by which other tables' rows are found.
      # @api private
      # @return [Array<String>]
      def association_keys
        @association_keys ||= reflections.values.map(&:owner_key).uniq.freeze
      end

      # @api private
      # @return [Array<Associations::Reflection>] those that say what happens when a record is destroyed
      def dependent_reflections
        @dependent_reflections ||=
          reflections.values.select { |one| one.options[:dependent] && !one.through? }.freeze
      end

      # @api private
      def dependents?
        !dependent_reflections.empty?
      end

      # @api private
      # @return [Array<Associations::Reflection>] parents with a counter, or to be touched
      def told_parents
        @told_parents ||= reflections.values.select { |one| one.options[:counter_cache] || one.options[:touch] }.freeze
      end

      # @api private
      def tells_parents?
        !told_parents.empty?
      end

      # @api private
      def touches_parents?
        told_parents.any? { |reflection| reflection.options[:touch] }
      end

      # @api private
      # @return [Class] the model's associations as promises
      def promises
        @promises ||= Class.new(superclass.respond_to?(:promises) ? superclass.promises : Promises)
      end

      # @api private
      # @return [Class] the model's relations, narrowed to an owner
      def collection_class
        @collection_class ||= Class.new(relation_class) { include Collection }.tap do |collections|
          const_set(:QueryCollection, collections)
          private_constant :QueryCollection
        end
      end

      # @api private
      # @return [Relation] over all rows, whatever class method is running
      def bare_relation
        @relation
      end

      # Whether the first record that needs an association loads it for all that were loaded with it. True unless it is
      # set otherwise for the class or one above it.
      #
      # @return [Boolean]
      def automatic_preload
        return @automatic_preload unless @automatic_preload.nil?

        superclass.respond_to?(:automatic_preload) ? superclass.automatic_preload : true
      end

      # Whether all records refuse to load associations by themselves.
      #
      # @return [Boolean]
      def strict_loading_by_default
        return @strict_loading_by_default unless @strict_loading_by_default.nil?

        superclass.respond_to?(:strict_loading_by_default) && superclass.strict_loading_by_default
      end
      attr_writer :automatic_preload, :strict_loading_by_default

      private

      def associate(kind, name, scope, options)
        raise ArgumentError, "an association has a method's name, not #{name.inspect}" unless name.match?(PLAIN_NAME)
        if Base.method_defined?(name) || Base.private_method_defined?(name)
          raise ArgumentError, "an association :#{name} would hide a method that every record has"
        end

        reflection = Reflection.make(self, kind, name, scope, options)
        (@own_reflections ||= {})[reflection.name] = reflection
        forget_reflections
        Accessors.define(self, reflection)
        reflection
      end

      def require_parent(reflection)
        name = reflection.name
        validate do
          next unless self.class.reflections[name].equal?(reflection) # it was not declared anew

          errors.add(name, "must exist") if parent_in_doubt?(reflection) && !association(name).present?
        end
      end

      def forget_reflections
        @reflections = @association_keys = @dependent_reflections = @told_parents = nil
        subclasses.each { |subclass| subclass.send(:forget_reflections) }
      end

      def unknown_association(name)
        known = reflections.keys
        near = DidYouMean::SpellChecker.new(dictionary: known).correct(name.to_s).first if defined?(DidYouMean)
        hint = near ? "; did you mean :#{near}?" : "; it has #{known.map(&:inspect).join(', ')}"
        raise UnknownAssociation, "#{self.name || table_name} has no association #{name.to_sym.inspect}" \
                                  "#{hint unless known.empty?}"
      end
    end

    # @param name [Symbol]
    # @return [Associations::One, Associations::Many] what this record knows of an association
    # @raise [UnknownAssociation]
    def association(name)
      @associations&.[](name) || begin
        reflection = self.class.reflection(name)
        holder = (reflection.many? ? Many : One).new(self, reflection)
        # Of two threads that ask at the same time the second one gets what the first one made.
        FIRST.synchronize { (@associations ||= {})[name] ||= holder }
      end
    end

    # The associations as promises.
    #
    # @example
    #   user = post.async.user
    #   user.await
    # @return [Object] with a method for each association, which returns a {Pending}
    def async
      self.class.promises.new(self)
    end

    # From now on associations that were not preloaded raise instead of loading.
    #
    # @return [self]
    def strict!
      @strict = true
      self
    end
    alias strict_loading! strict!

    # @return [Boolean]
    def strict?
      @strict || self.class.strict_loading_by_default
    end
    alias strict_loading? strict?

    # @api private
    # @return [Associations::Batch, nil] what was loaded together with this record
    def batch
      return @batch if @batch || @rows.nil?

      @batch = Batch.of(@rows, self.class, @index)
    end

    # Associations of a frozen record can still be read.
    # @return [self]
    def freeze
      @associations ||= {}
      batch unless self.class.reflections.empty?
      super
    end

    # The row has lost this foreign key.
    # @api private
    def forget_parent(column)
      settle(column => nil)
    end

    private

    # A copy belongs to what its foreign keys say, and has nothing of its own.
    def initialize_dup(other)
      forget_associations
      super
    end

    # A key that was loaded and not changed leads somewhere, as far as a validation can tell.
    def parent_in_doubt?(reflection)
      key = reflection.foreign_key
      new_record? || self[key].nil? || attribute_changed?(key)
    end

    # The row in Rust is let go; what was loaded with the record is still known by its keys.
    def release_row
      batch unless self.class.reflections.empty?
      @rows = nil
    end

    def forget_associations
      @associations = @batch = nil
    end
  end
  private_constant :Associations
end
