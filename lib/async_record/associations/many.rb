# frozen_string_literal: true

# Owns one record's has_many: what was loaded, what was built and waits for the owner to be saved, and the ways in and
# out. How a record leaves is said by `dependent:`; without it, it loses its foreign key.
# Refuses to be asked by programs: they hold the {Collection}.

require_relative "links"

module AsyncRecord
  module Associations
    # The records on the other side.
    class Many < Holder
      include Links

      NONE = [].freeze
      private_constant :NONE

      def initialize(owner, reflection)
        super
        @target = @pending = NONE
      end

      # @return [Collection] the query and the list in one
      def collection
        return new_collection if owner.new_record? || @collection.nil? || @collection_key != owner[reflection.owner_key]

        @collection
      end

      # @return [Array<Base>] loads them if need be; not to be changed
      def read
        once { load unless loaded? } until loaded?
        @target
      end

      # @return [Boolean] a new record has only what was built for it
      def loaded?
        @loaded || owner.new_record?
      end

      # @return [Boolean] whether it is known without asking that there are some, or none
      def certain?
        loaded? || !@pending.empty?
      end

      # @return [Array<Base>] what is known, without loading
      attr_reader :target

      # What a query found, next to what was built.
      # @param records [Array<Base>]
      # @return [void]
      def take(records)
        @target = merged(records.each { |record| lead_back(record) })
        @loaded = true
      end

      # @return [Base] new, not saved
      def build(attributes = {})
        klass.new(attributes).tap { |record| add(record) }
      end

      # @return [Base] created
      def create(attributes = {}, save: :save)
        refuse_new_owner
        record = klass.new(attributes)
        store(record, save)
        add(record)
        record
      end

      # Adds records, and saves them if the owner is saved.
      # @return [Boolean] whether all could be saved
      def concat(records)
        records = records.flatten.each { |record| check_class(record) }
        return false unless owner.new_record? || stored?(records)

        records.each { |record| add(record) }
        true
      end

      # Makes the list be exactly these.
      # @return [void]
      def replace(records)
        records = records.to_a.flatten.each { |record| check_class(record) }.uniq
        if owner.new_record?
          reset
          return concat(records)
        end
        Transaction.run(klass.database) do
          leave(read - records, reflection.options[:dependent])
          concat(records - read) || raise(RecordNotSaved, "one of the new #{reflection.name} could not be saved")
        end
        @target = records
      end

      # Makes the list be the records with these keys.
      # @return [void]
      def replace_keys(keys)
        keys = Array(keys).reject { |key| key.nil? || key == "" }
        replace(klass.bare_relation.find(keys))
      end

      # Lets records go, as `dependent:` says.
      # @return [Array<Base>] them
      def delete(records, how = reflection.options[:dependent])
        records = found(records)
        known = records.reject(&:new_record?)
        Transaction.run(klass.database) { leave(known, how) } unless known.empty? || owner.new_record?
        @target -= records
        @pending -= records
        records
      end

      # @return [self] that has to load again, and forgets what was built
      def reset
        @loaded = false
        @target = @pending = NONE
        @collection = nil
        self
      end

      # @return [void]
      def reload
        reset
        refuse_if_strict
        take(key.nil? ? [] : alone)
      end

      # @return [Array<Base>] what saving the owner has to save; links save what they lead to
      def unsaved
        reflection.through? ? NONE : @pending.select { |record| record.new_record? || record.changed? }
      end

      # @return [Boolean] whether saving the owner has to save more
      def pending?
        return false if reflection.through?

        @pending.any? { |record| record.new_record? || record[reflection.target_key] != owner[reflection.owner_key] }
      end

      # @return [Boolean] whether all could be destroyed
      def destroy_all
        relation.to_a.all? { |record| lead_back(record).destroy }
      end

      # A new owner has its key now.
      # @return [void]
      def give_key
        @pending.each { |record| attach(record) }
      end

      # @return [Integer] without loading: counted, or kept in the owner's column
      def size
        return @target.size if loaded?

        @pending.count(&:new_record?) + (kept_count || relation.count)
      end

      # @return [Integer, nil] what the counter in the owner's row says
      def kept_count
        return if reflection.through? || reflection.scope

        column = reflection.inverse&.counter_column
        column && owner.has_attribute?(column) ? owner[column] || 0 : nil
      end

      private

      def load
        take(fetch)
      end

      def new_collection
        @collection_key = owner[reflection.owner_key]
        @collection = klass.collection_class.allocate.belong_to(self, relation)
      end

      # A row that is here already stays the object that it is.
      def merged(records)
        return records if @target.empty?

        here = @target.to_h { |record| [record, record] }
        records.map { |record| here.delete(record) || record } + here.each_key.select(&:new_record?)
      end

      def add(record)
        @loaded = true if owner.new_record?
        return if @target.include?(record)

        @target += [record]
        wait_for_owner(record) if owner.new_record? || record.new_record?
      end

      # Saving the owner saves the record.
      def wait_for_owner(record)
        return attach_link(record) if reflection.through?

        attach(record)
        @pending += [record]
      end

      def stored?(records)
        return records.all? { |record| store(record, :save) } if records.size < 2

        Transaction.nest(klass.database) { records.all? { |record| store(record, :save) } || raise(Rollback) }
      end

      def store(record, save)
        return link(record, save) if reflection.through?

        attach(record)
        record.public_send(save)
      end

      def attach(record)
        key = owner[reflection.owner_key]
        record[reflection.target_key] = key unless key.nil?
        lead_back(record)
      end

      def leave(records, how)
        return if records.empty?
        return unlink(records) if reflection.through?

        case how
        when :destroy then records.each(&:destroy!)
        when :delete_all then rows(records).delete_all
        else nullify(records)
        end
      end

      def nullify(records)
        rows(records).update_all(reflection.target_key => nil)
        records.each { |record| record.forget_parent(reflection.target_key) }
      end

      def rows(records)
        narrowed.where(klass.keys_condition(records.map(&:id)))
      end

      def found(records)
        records.flatten.map do |record|
          next record if record.is_a?(klass)

          read.find { |one| one.id == klass.cast_key(record) } ||
            raise(RecordNotFound, "#{reflection} has no #{klass} with #{klass.primary_key} #{record.inspect}")
        end
      end

      def refuse_new_owner
        return unless owner.new_record?

        raise RecordNotSaved, "save the #{owner.class} before you create #{reflection.name} for it; build works now"
      end
    end
  end
end
