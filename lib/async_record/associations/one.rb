# frozen_string_literal: true

# Owns one record's belongs_to or has_one: what was loaded or assigned, and the foreign key that says so. A belongs_to
# whose key was changed is loaded anew. Refuses records of another class.

module AsyncRecord
  module Associations
    # The record on the other side.
    class One < Holder
      NONE = [].freeze
      private_constant :NONE

      # @return [Base, nil] loads it if need be
      def read
        once { load unless loaded? } until loaded?
        @target
      end

      # @return [Boolean] whether it is known, for the key as it is now
      def loaded?
        return true if @loaded && (!reflection.belongs_to? || @key == current_key)

        !reflection.belongs_to? && !reflection.through? && owner.new_record?
      end

      # @return [Base, nil] what is known, without loading
      def target
        @target if loaded?
      end

      # @return [Boolean] whether there is one, as validation asks: also of a strict record
      def present?
        return !@target.nil? if loaded?
        return false if key.nil?

        take(alone)
        !@target.nil?
      end

      # What a query found.
      # @param records [Array<Base>]
      # @return [void]
      def take(records)
        settle(records.first && lead_back(records.first))
      end

      # The other side was reached from this record's owner, so this is where it leads.
      # @return [void]
      def owned_by(record)
        settle(record)
      end

      # Assigns. A has_one of a stored owner stores at once, and lets go of the one before.
      #
      # @param record [Base, nil]
      # @return [void]
      def write(record)
        check_class(record) if record
        return write_key(record) if reflection.belongs_to?
        return replace(record) unless owner.new_record?

        @pending = !record.nil?
        settle(record && attach(record))
      end

      # @return [Base] new, not saved; saving the owner saves it
      def build(attributes = {})
        refuse_through
        record = klass.new(attributes)
        if reflection.belongs_to?
          write_key(record)
        else
          @replaced ||= read unless owner.new_record?
          @pending = true
          settle(attach(record))
        end
        record
      end

      # @return [Base] created
      def create(attributes = {}, save: :save)
        record = klass.new(attributes)
        attach_or_refuse(record)
        reflection.belongs_to? ? record.public_send(save) && write_key(record) : write_saved(record, save)
        record
      end

      # @return [self] that has to load again
      def reset
        @loaded = false
        @target = @key = @replaced = @pending = nil
        self
      end

      # @return [Base, nil] loaded again, by a query of its own
      def reload
        reset
        settle_alone
      end

      # @return [Array<Base>] what saving the owner has to save
      def unsaved
        return NONE if @target.nil? || reflection.through?

        @target.new_record? || (@pending && @target.changed?) ? [@target] : NONE
      end

      # @return [Boolean] whether saving the owner has to save more
      def pending?
        return false if @target.nil? || reflection.through?
        return @target.new_record? if reflection.belongs_to?

        @pending && (@target.new_record? || @target[reflection.target_key] != owner[reflection.owner_key])
      end

      # @return [Boolean] whether it could be destroyed
      def destroy_all
        record = relation.take
        record.nil? || (lead_back(record).destroy ? true : false)
      end

      # A parent that was new when it was assigned has its key now.
      # @return [void]
      def take_key
        write_key(@target) if reflection.belongs_to? && @target&.persisted? && current_key.nil?
      end

      # A new owner has its key now.
      # @return [void]
      def give_key
        attach(@target)
        remove(@replaced) if @replaced&.persisted?
        @replaced = nil
      end

      private

      def load
        take(fetch)
      end

      def settle_alone
        refuse_if_strict
        take(key.nil? ? [] : alone)
        @target
      end

      def settle(record)
        @key = current_key if reflection.belongs_to?
        @target = record
        @loaded = true
      end

      def current_key
        owner[reflection.owner_key]
      end

      def write_key(record)
        owner[reflection.owner_key] = record && record[reflection.target_key]
        settle(record)
        lead_back(record) if record
      end

      def attach(record)
        refuse_through
        key = owner[reflection.owner_key]
        record[reflection.target_key] = key unless key.nil?
        lead_back(record)
      end

      def attach_or_refuse(record)
        return if reflection.belongs_to?
        raise RecordNotSaved, "#{reflection} cannot be created before its owner is saved" if owner.new_record?

        attach(record)
      end

      def write_saved(record, save)
        before = read
        klass.database.then do |database|
          Transaction.run(database) { record.public_send(save) && before && remove(before) }
        end
        settle(record)
      end

      def replace(record)
        before = read
        return if before.equal?(record)

        Transaction.run(klass.database) do
          remove(before) if before && before != record
          attach(record).save || raise(RecordNotSaved, "#{record.inspect} could not be saved") if record
        end
        settle(record)
      end

      def remove(record)
        case reflection.options[:dependent]
        when :destroy then record.destroy
        when :delete_all then record.delete
        else record.update_columns(reflection.target_key => nil)
        end
      end

      def refuse_through
        return unless reflection.through?

        raise AssociationError, "#{reflection} goes through others and cannot be assigned; assign there"
      end
    end
  end
end
