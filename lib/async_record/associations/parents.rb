# frozen_string_literal: true

# Owns what a record tells the record it belongs to: `counter_cache:` and `touch:`. It happens within the transaction
# that stores the record, by statements on the parent's row; a parent that is loaded is kept up to date.
# Refuses to count what was changed without records (`delete`, `update_all`).

module AsyncRecord
  module Associations
    # Counters and timestamps of parents.
    module Parents
      # @api private
      # The row's counter was changed.
      def counter_moved(column, by)
        settle(column => (self[column] || 0) + by) if has_attribute?(column)
      end

      private

      # What is touched touches its parents.
      def touch_now(*)
        super && telling_parents { |reflection| touch_parent(reflection, self[reflection.foreign_key]) }
      end

      def tell_parents_of_creation
        telling_parents do |reflection|
          key = self[reflection.foreign_key]
          count_at(reflection, key, 1)
          touch_parent(reflection, key)
        end
      end

      def tell_parents_of_end
        telling_parents do |reflection|
          next if association(reflection.name).target&.removing?

          key = attribute_was(reflection.foreign_key)
          count_at(reflection, key, -1)
          touch_parent(reflection, key)
        end
      end

      # A record that went to another parent concerns both.
      def tell_parents_of_change
        return true if saved_changes.empty?

        telling_parents do |reflection|
          before, now = saved_changes[reflection.foreign_key]
          count_at(reflection, before, -1)
          count_at(reflection, now, 1)
          touch_parent(reflection, before)
          touch_parent(reflection, self[reflection.foreign_key])
        end
      end

      def telling_parents(&block)
        self.class.told_parents.each(&block) if self.class.tells_parents?
        true
      end

      def count_at(reflection, key, by)
        column = reflection.counter_column
        return if column.nil? || key.nil?

        rows_of_parent(reflection, key).increment(column => by)
        loaded_parent(reflection, key)&.counter_moved(column, by)
      end

      def touch_parent(reflection, key)
        touch = reflection.options[:touch]
        return if key.nil? || !touch

        names = touch == true ? [] : Array(touch)
        parent = loaded_parent(reflection, key)
        parent ||= rows_of_parent(reflection, key).take if reflection.klass.touches_parents?
        return parent.touch(*names) if parent

        columns = reflection.klass.timestamp_columns(:update) + names.map(&:to_s)
        rows_of_parent(reflection, key).update_all(columns.uniq.to_h { |name| [name, Time.now] })
      end

      def rows_of_parent(reflection, key)
        reflection.klass.bare_relation.where(reflection.target_key => key)
      end

      def loaded_parent(reflection, key)
        target = association(reflection.name).target
        target if target&.persisted? && target[reflection.target_key] == key
      end
    end
  end
end
