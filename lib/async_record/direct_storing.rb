# frozen_string_literal: true

# Owns the saving of a record that nothing waits for, for models that do nothing but write a row: the statement is made
# here and now and its result taken on the dispatcher, without a fiber and a turn of the loop (18 µs). Refuses models
# with callbacks, checks or parents to tell, and whatever else might wait.

module AsyncRecord
  # Saves with a block.
  module DirectStoring
    # What concerns the class.
    module ClassMethods
      # @return [Boolean] whether storing a record is one statement, and nothing besides
      # @api private
      def writes_only?
        !callbacks? && !commit_callbacks? && !hooked?(:validation) && all_rules.empty? && !tells_parents?
      end

      # @return [Boolean] whether a new record can be made and stored here and now, without waiting for anything
      # @api private
      def creates_at_once?
        writes_only? && loading_hooks.empty? && database.direct? && !known_table_mapping.nil?
      end
    end

    # What goes wrong before the statement is on its way is left to the way that waits: there callbacks hear of it.
    #
    # @param block [Proc, nil]
    # @param validate [Boolean] whether errors of an earlier validation are forgotten; there is nothing to check
    # @param answer [Object] what it gets
    # @return [Pending, nil] nil if the record has to be stored by code that waits
    # @api private
    def store_directly(block, validate: true, touch: true, answer: true)
      model = self.class
      return unless block && @associations.nil? && model.writes_only? && model.database.direct?

      mapping = model.known_table_mapping || return
      @touches = touch
      @errors&.clear if validate
      new_record? ? insert_directly(mapping, block, answer) : change_directly(mapping, block, answer)
    rescue StandardError
      nil
    end

    private

    def insert_directly(mapping, block, answer)
      prepare_insertion
      names = stored_names
      submit_directly(mapping.row_writes.insert(row_to_store(names)), block, answer) do |result|
        take_inserted(result, names, mapping)
      end
    end

    def change_directly(mapping, block, answer)
      names = stored_names
      return if names.empty?

      names = stored_names if stamp(:update)
      changes = counted(row_to_store(names))
      submit_directly(mapping.row_writes.update(changes, self), block, answer) do |result|
        take_changed(result.is_a?(Array) ? result.first : result.size, changes, names)
      end
    end

    # @yieldparam result [Object] what the statement returned, while the record is as it was submitted
    def submit_directly(statement, block, answer)
      return unless statement

      database = self.class.database
      submitted = copied_values
      tracked = changes_hash
      changed = tracked.dup
      finish = lambda do |result|
        database.wrote(statement.sql)
        as_submitted(assigned_since(submitted, tracked, changed), submitted, changed) { yield result }
        answer
      end
      database.ask(statement, block, finish, :call)
    end

    # What was assigned back to its old value is tracked no more, so a value that was submitted and is another now was
    # assigned too; unless what is tracked began anew: the record was read again or stored meanwhile.
    #
    # @return [Hash] what the program has assigned since; what came from the database in the meantime is no change
    def assigned_since(submitted, tracked, changed)
      later = @attributes.reject { |name, value| same_value?(name, submitted[name], value) }
      return later if later.empty?

      kept = @changed.equal?(tracked)
      now = changes_now
      later.select { |name, _| now.key?(name) || (kept && changed.key?(name)) }
    end

    # The program goes on meanwhile: what it assigned since is changed still.
    def as_submitted(later, submitted, changed)
      @attributes = @attributes.merge(submitted.slice(*later.keys)) unless later.empty?
      before = @changed
      @changed = changed
      yield
    rescue StandardError
      @changed = before
      raise
    ensure
      later.each { |name, value| assign_later(name, value) }
    end

    def assign_later(name, value)
      track(name, @attributes[name], value)
      @attributes[name] = value
    end
  end
  private_constant :DirectStoring
end
