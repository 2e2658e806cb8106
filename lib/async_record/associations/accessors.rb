# frozen_string_literal: true

# Owns the methods that a declared association gives to records: readers, writers, makers. They live in a module of
# their own, so that a model can override them and call `super`. Refuses to do the work: One and Many do.

module AsyncRecord
  module Associations
    # What `record.async` returns: the model's associations as promises.
    class Promises
      # @param record [Base]
      def initialize(record)
        @record = record
      end
    end

    # Defines methods.
    module Accessors
      class << self
        # @return [void]
        def define(model, reflection)
          methods = module_of(model)
          reflection.many? ? many(methods, reflection.name) : one(methods, reflection)
          promise(model.promises, reflection.name)
        end

        private

        # A declaration that is repeated counts.
        def add(methods, name, &body)
          methods.remove_method(name) if methods.method_defined?(name, false)
          methods.define_method(name, &body)
        end

        def promise(promises, name)
          add(promises, name) { Pending.spawn { @record.association(name).read } }
        end

        def module_of(model)
          return model.const_get(:GeneratedAssociations, false) if model.const_defined?(:GeneratedAssociations, false)

          methods = Module.new
          model.const_set(:GeneratedAssociations, methods)
          model.send(:private_constant, :GeneratedAssociations)
          model.include(methods)
          methods
        end

        def one(methods, reflection)
          name = reflection.name
          add(methods, name) { |&block| in_style(block) { association(name).read } }
          add(methods, "#{name}=") { |record| association(name).write(record) }
          add(methods, "reload_#{name}") { |&block| in_style(block) { association(name).reload } }
          makers(methods, name) unless reflection.through?
        end

        def makers(methods, name)
          add(methods, "build_#{name}") { |attributes = {}| association(name).build(attributes) }
          { "create_#{name}" => :save, "create_#{name}!" => :save! }.each do |method, save|
            add(methods, method) do |attributes = {}, &block|
              in_style(block) { association(name).create(attributes, save: save) }
            end
          end
        end

        def many(methods, name)
          ids = "#{Inflector.singularize(name.to_s)}_ids"
          add(methods, name) do |&block|
            block ? in_style(block) { association(name).read.dup } : association(name).collection
          end
          add(methods, "#{name}=") { |records| association(name).replace(records) }
          add(methods, ids) { |&block| association(name).collection.ids(&block) }
          add(methods, "#{ids}=") { |keys| association(name).replace_keys(keys) }
        end
      end
    end
  end
end
