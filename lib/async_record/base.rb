# frozen_string_literal: true

# Owns the model class: its table, its primary key, its database. What models and records can do is in the modules it
# includes, one file each. Refuses `method_missing`: readers are defined from the columns.

require_relative "inflector"
require_relative "keys"
require_relative "declarations"
require_relative "enum"
require_relative "attributes"
require_relative "serialization"
require_relative "persistence"
require_relative "locking"
require_relative "callbacks"
require_relative "validations"
require_relative "querying"
require_relative "loading"
require_relative "associations"

module AsyncRecord
  # The superclass of all models.
  #
  # @example
  #   class User < AsyncRecord::Base
  #     validates :email, presence: true, uniqueness: true
  #     scope :recent, -> { order(created_at: :desc).limit(10) }
  #   end
  #   User.find(1)                             # waits
  #   User.find(1) { |user, error| … }         # calls back
  class Base
    include Attributes
    include Serialization
    include Persistence
    include Locking
    include Callbacks
    include Validations
    include Associations
    extend Querying
    extend Loading
    extend Keys
    extend Declarations
    extend Enums
    extend Attributes::ClassMethods
    extend Serialization::ClassMethods
    extend Locking::ClassMethods
    extend Callbacks::ClassMethods
    extend Validations::ClassMethods
    extend DirectStoring::ClassMethods
    extend Associations::ClassMethods

    class << self
      # Whether the class is a superclass of models and has no table itself.
      # @return [Boolean]
      attr_accessor :abstract_class

      # The table's name: set, or the superclass's if that is a model, or the plural of the class name.
      #
      # @return [String]
      def table_name
        @table_name ||= model?(superclass) ? superclass.table_name : default_table_name
      end

      # @param name [String, Symbol]
      # @return [void]
      def table_name=(name)
        forget_schema
        @table_name = name.to_s.dup.freeze
      end

      # The spelling of 2010.
      # @return [void]
      def set_table_name(name) # rubocop:disable Naming/AccessorMethodName -- the name is the contract
        self.table_name = name
      end

      # Sets the database of this class and its subclasses.
      #
      # @param database [Database, Symbol, String, nil] a Symbol is a name of {AsyncRecord.connect}, also one that
      #   is given later; a String is a URL; nil takes the setting back
      # @return [void]
      # @raise [ConfigurationError] for anything else, such as ActiveRecord's options
      def set_connection(database) # rubocop:disable Naming/AccessorMethodName -- the name is the contract
        unless [Symbol, String, Database, NilClass].any? { |kind| database.is_a?(kind) }
          raise ConfigurationError, "connects_to takes a name or a URL, as in connects_to :log after " \
                                    "AsyncRecord.connect(url, name: :log, replicas: [url]); not #{database.inspect}"
        end

        @database = database.is_a?(String) ? Database.new(database) : database
        forget_schema
      end
      alias connects_to set_connection

      # @return [Database] this class's, or its superclass's, or the one of {AsyncRecord.connect}
      # @raise [ConfigurationError] when there is none
      def database
        case @database
        when nil then equal?(Base) ? AsyncRecord.database : superclass.database
        when Symbol then AsyncRecord.database(@database)
        else @database
        end
      end
      alias connection database

      # @return [String]
      def inspect
        return super if equal?(Base) || abstract_class

        columns = known_table&.columns&.map { |column| "#{column.name}: #{column.kind}" }
        columns ? "#{name || super}(#{columns.join(', ')})" : (name || super)
      end

      private

      def inherited(subclass)
        super
        subclass.prepare_loading
        subclass.prepare_querying
      end

      def model?(candidate)
        candidate != Base && candidate < Base && !candidate.abstract_class
      end

      def default_table_name
        raise ConfigurationError, "a class without a name needs `self.table_name = \"…\"`" unless name

        (AsyncRecord.legacy_table_names ? name.split("::").last.downcase : Inflector.table_name(name)).freeze
      end
    end
  end
end
