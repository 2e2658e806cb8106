# frozen_string_literal: true

# Owns that a record is saved together with what is new around it: its new parents before it, what was built below it
# after it, all in one transaction, all of it valid. Refuses to save records that were merely changed: they are saved by
# themselves.

module AsyncRecord
  module Associations
    # Saving several records by saving one.
    module Saving
      # @api private
      # @return [Boolean] whether the record is being saved right now, perhaps on behalf of another one
      def saving?
        @saving ? true : false
      end

      private

      def store(validate, context = nil, touch: true)
        return super unless more_to_save?
        return true if saving?
        return false if validate && !validate_now(context)

        saving { together(pending_associations?) { super(false, touch: touch) } }
      end

      def saving
        @saving = true
        yield
      ensure
        @saving = false
      end

      def more_to_save?
        self.class.tells_parents? || saving? || pending_associations?
      end

      def pending_associations?
        @associations&.each_value&.any?(&:pending?)
      end

      # All of it or nothing. Within a transaction a savepoint takes back what was done before something is refused.
      #
      # @return [Object, false]
      def together(several, &work)
        database = self.class.database
        return Transaction.run(database, &work) if Context[database] && !several

        Transaction.nest(database) { work.call || raise(Rollback) } || false
      end

      def insert
        save_new_parents && super && save_built && tell_parents_of_creation
      end

      def change
        save_new_parents && super && save_built && tell_parents_of_change
      end

      def save_new_parents
        @associations&.values&.each do |association|
          next unless association.reflection.belongs_to?

          association.unsaved.each { |parent| parent.saving? || parent.save(validate: false) || (return false) }
          association.take_key
        end
        true
      end

      def save_built
        @associations&.values&.each do |association|
          next if association.reflection.belongs_to? || !association.pending?

          association.give_key
          association.unsaved.each { |record| record.saving? || record.save(validate: false) || (return false) }
        end
        true
      end

      # Records that point at each other are validated once.
      def validate_now(*)
        return super if @associations.nil?
        return true if @validating

        begin
          @validating = true
          super & validate_new_records
        ensure
          @validating = false
        end
      end

      def validate_new_records
        @associations.to_a.each do |name, association|
          errors.add(name, "is invalid") unless association.unsaved.map(&:valid?).all?
        end
        errors.empty?
      end
    end
  end
end
