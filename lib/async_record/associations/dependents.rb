# frozen_string_literal: true

# Owns what happens to a record's associates when it is destroyed: they are destroyed, deleted, lose their foreign key,
# or forbid it. All in one transaction with the record. Refuses to do anything for `delete`, which is one statement.

module AsyncRecord
  module Associations
    # The `dependent:` option.
    module Dependents
      # @api private
      # @return [Boolean] whether the record is being destroyed right now
      def removing?
        @removing ? true : false
      end

      private

      def remove
        return super unless persisted? && (self.class.dependents? || self.class.tells_parents?)

        begin
          @removing = true
          together(self.class.dependents?) { super }
        ensure
          @removing = false
        end
      end

      def destroy_row
        return super unless removing?

        self.class.dependent_reflections.all? { |reflection| release(reflection) } && super && tell_parents_of_end
      end

      # @return [Boolean] whether the record may go
      def release(reflection)
        holder = association(reflection.name)
        case reflection.options[:dependent]
        when :destroy then holder.destroy_all
        when :delete_all then holder.relation.delete_all && true
        when :nullify then holder.relation.update_all(reflection.target_key => nil) && true
        when :restrict_with_error then permit(reflection, holder)
        else permit!(reflection, holder)
        end
      end

      def permit(reflection, holder)
        return true unless holder.relation.any?

        noun = reflection.many? ? "records: #{reflection.name}" : "record: #{reflection.name}"
        errors.add(:base, "Cannot delete record because of dependent #{noun}")
        false
      end

      def permit!(reflection, holder)
        return true unless holder.relation.any?

        raise DeleteRestrictionError, "#{inspect} cannot be destroyed because #{reflection.name} belong to it " \
                                      "(dependent: :restrict_with_exception)"
      end
    end
  end
end
