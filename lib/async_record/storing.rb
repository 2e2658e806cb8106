# frozen_string_literal: true

# Owns the steps between a record and its row: validation, callbacks, the statement, and what comes back from it. A
# record with callbacks is stored in a transaction, so that the callbacks' work stands or falls with it.

module AsyncRecord
  # Writes records.
  module Storing
    private

    def store(validate, context = nil, touch: true)
      return false if validate && !validate_now(context)

      @touches = touch
      atomically { run_callbacks(:save) { new_record? ? insert : change } } != false
    end

    def store!(validate, context = nil, touch: true)
      raise RecordInvalid, self if validate && !validate_now(context)

      store(false, touch: touch) || raise(RecordNotSaved, "a callback refused to save #{inspect}")
    end

    def remove
      @last_action = :destroy
      atomically { run_callbacks(:destroy) { destroy_row } } && self
    end

    def destroy_row
      erase(checked: true)
    end

    # @param checked [Boolean] whether somebody else's change is an error
    def erase(checked: false)
      checked &&= locked_by_version?
      row = checked ? unchanged_row : row_relation unless new_record?
      deleted = row ? row.delete_all : 0
      gone("deleted") if row && checked && deleted.zero?
      @destroyed = true
      self
    end

    # Callbacks may write too, so they share a transaction with the record; without any, one statement is enough.
    def atomically(&work)
      open = Context[self.class.database]
      return within(open, &work) if open

      unless self.class.callbacks?
        result = yield
        run_commit_callbacks if result && self.class.commit_callbacks?
        return result
      end

      result = false
      Transaction.run(self.class.database) do |transaction|
        result = within(transaction, &work)
        raise Rollback if result == false
      end
      result
    end

    # What a rollback takes from the table it takes from the record too.
    def within(transaction)
      told = @told_by.equal?(transaction)
      remember_row(transaction, told)
      result = yield
      return result unless result && self.class.commit_callbacks?

      (@commit_actions ||= []) << @last_action
      @told_by = transaction
      transaction.after_commit { run_commit_callbacks } unless told
      result
    end

    def remember_row(transaction, told)
      before = state_of_row
      transaction.after_rollback do
        action = @last_action
        self.state_of_row = before
        run_hooks(:after_rollback, action) unless told
      end
    end

    def state_of_row
      [@new_record, @destroyed, values.dup, changes_now.dup, pristine, @told_by, @commit_actions.dup]
    end

    def state_of_row=(state)
      @new_record, @destroyed, @attributes, @changed, @pristine, @told_by, @commit_actions = state
    end

    def insert
      @last_action = :create
      run_callbacks(:create) do
        prepare_insertion
        names = stored_names
        statement = insert_statement(names)
        mapping = self.class.table_mapping
        take_inserted(self.class.database.await(statement.sql, statement.binds), names, mapping)
      end
    end

    def prepare_insertion
      stamp(:create)
      start_counting
    end

    # @param mapping [TableMapping] what is known of the table; to ask for it here might be to wait
    def take_inserted(result, names, mapping)
      load_inserted(result, names, mapping)
      @new_record = false
      stored(names)
    end

    def insert_statement(names)
      model = self.class
      table = model.table!
      row = row_to_store(names)
      known = model.table_mapping&.row_writes&.insert(row)
      return known if known

      compiler = Compiler.new(model.database.dialect, model.table_name, table)
      Compiler::Write.new(compiler, model).insert(names, [row.values], returning: table.names).statement
    end

    def load_inserted(result, names, mapping)
      return load_key(names, result.last, mapping) if result.is_a?(Array)

      table = mapping.table
      result.hash_at(0)&.each do |name, value|
        column = table[name]
        @attributes[name] = Type.load(column.kind, Type.cast(column.stored_kind, value))
      end
    end

    # Without the row the record keeps what was assigned; text is its own from here on, as if it had been read.
    def load_key(names, key, mapping)
      names.each { |part| @attributes[part] = @attributes[part].dup if @attributes[part].is_a?(String) }
      name = Array(mapping.key).find { |part| @attributes[part].nil? && mapping.table[part]&.kind == :integer }
      @attributes[name] = key if key && name
    end

    def change
      @last_action = :update
      run_callbacks(:update) do
        names = stored_names
        next stored(names) if names.empty?

        names = stored_names if stamp(:update)
        changes = counted(row_to_store(names))
        take_changed(write_changed_row(changes), changes, names)
      end
    end

    def take_changed(count, changes, names)
      gone("updated") if count.zero?
      column = self.class.used_locking_column
      @attributes[column] = changes[column] if column
      stored(names)
    end

    # @return [Integer] how many rows changed
    def write_changed_row(changes)
      model = self.class
      database = model.database
      statement = model.table_mapping&.row_writes&.update(changes, self)
      return unchanged_row.update_all(changes) unless statement

      result = database.await(statement.sql, statement.binds)
      result.is_a?(Array) ? result.first : result.size
    end

    # What was changed and has a column.
    def stored_names
      names = changed
      virtual = self.class.virtual_attributes
      names -= virtual.keys unless virtual.empty?
      fixed = self.class.readonly_attributes
      fixed.empty? || new_record? ? names : names - fixed
    end

    # The row as it is in the database, even if the key was assigned anew.
    def row_relation
      columns = self.class.key_columns
      key = columns.map { |column| attribute_was(column) }
      if key.any?(&:nil?) || new_record?
        raise RecordNotFound, "this #{self.class} has no #{columns.join(', ')} yet; save it first"
      end

      Relation.new(self.class).where(columns.zip(key).to_h)
    end

    def row_to_store(names)
      names.to_h { |name| [name, stored_value(name)] }
    end

    # A document column takes any value; the others take what was cast already.
    def stored_value(name)
      value = @attributes[name]
      return value unless self.class.kind_of_attribute(name) == :json

      value.nil? ? nil : JSON.generate(value)
    end

    # @return [Boolean] whether something may have been set
    def stamp(action)
      return false unless @touches

      columns = self.class.timestamp_columns(action)
      return false if columns.empty?

      now = Time.now.floor(6) # as the columns keep it
      columns.each do |name|
        next if action == :create ? !@attributes[name].nil? : changes_hash.key?(name)

        write_attribute(name, now)
      end
      true
    end

    def stored(names)
      @saved_changes = names.to_h { |name| [name, [changes_hash[name], @attributes[name]]] }
      clear_changes
      true
    end
  end
  private_constant :Storing
end
