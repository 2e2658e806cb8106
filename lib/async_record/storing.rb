# frozen_string_literal: true

# Owns the steps between a record and its row: validation, callbacks, the statement, and what comes back from it. A
# record with callbacks is stored in a transaction, so that the callbacks' work stands or falls with it.

module AsyncRecord
  # Writes records.
  module Storing
    private

    def store(validate)
      return false if validate && !validate_now

      atomically { run_callbacks(:save) { new_record? ? insert : change } } != false
    end

    def store!(validate)
      raise RecordInvalid, self if validate && !validate_now

      store(false) || raise(RecordNotSaved, "a callback refused to save #{inspect}")
    end

    def remove
      atomically { run_callbacks(:destroy) { destroy_row } } && self
    end

    def destroy_row
      erase
    end

    def erase
      row_relation.delete_all unless new_record?
      @destroyed = true
      self
    end

    # Callbacks may write too, so they share a transaction with the record; without any, one statement is enough.
    def atomically(&work)
      open = Context[self.class.database]
      return within(open, &work) if open
      return yield.tap { |result| run_commit_callbacks if result } unless self.class.callbacks?

      Transaction.run(self.class.database) { |transaction| within(transaction, &work) }
    end

    # What a rollback takes from the table it takes from the record too.
    def within(transaction)
      before = state_of_row
      transaction.after_rollback { self.state_of_row = before }
      result = yield
      transaction.after_commit { run_commit_callbacks } if result && self.class.commit_callbacks?
      result
    end

    def state_of_row
      [@new_record, @destroyed, values.dup, changes_now.dup]
    end

    def state_of_row=(state)
      @new_record, @destroyed, @attributes, @changed = state
      @documents = nil
    end

    def insert
      @last_action = :create
      run_callbacks(:create) do
        stamp(:create)
        names = changes_hash.keys
        load_inserted(insert_statement(names))
        @new_record = false
        stored(names)
      end
    end

    def insert_statement(names)
      model = self.class
      compiler = Compiler.new(model.database.dialect, model.table_name, model.table)
      values = names.map { |name| stored_value(name) }
      Compiler::Write.new(compiler, model).insert(names, [values], returning: model.table!.names).statement
    end

    def load_inserted(statement)
      result = self.class.database.await(statement.sql, statement.binds)
      return load_key(result.last) if result.is_a?(Array)

      result.hash_at(0).each { |name, value| @attributes[name] = Type.cast(self.class.kind_of_attribute(name), value) }
    end

    def load_key(key)
      name = self.class.primary_key
      @attributes[name] = key if key && @attributes[name].nil?
    end

    def change
      @last_action = :update
      run_callbacks(:update) do
        next stored([]) unless changed?

        stamp(:update)
        names = changed
        write_changes(names)
        stored(names)
      end
    end

    def write_changes(names)
      changes = names.to_h { |name| [name, stored_value(name)] }
      return unless row_relation.update_all(changes).zero?

      raise RecordNotFound, "#{self.class} with #{self.class.primary_key} #{id.inspect} is gone; nothing was updated"
    end

    # The row as it is in the database, even if the key was assigned anew.
    def row_relation
      key = self.class.primary_key
      value = attribute_was(key)
      raise RecordNotFound, "this #{self.class} has no #{key} yet; save it first" if value.nil?

      Relation.new(self.class).where(key => value)
    end

    # A document column takes any value; the others take what was cast already.
    def stored_value(name)
      value = @attributes[name]
      return value unless self.class.kind_of_attribute(name) == :json

      value.nil? ? nil : JSON.generate(value)
    end

    def stamp(action)
      now = Time.now
      self.class.timestamp_columns(action).each do |name|
        next if action == :create ? !@attributes[name].nil? : changes_hash.key?(name)

        write_attribute(name, now)
      end
    end

    def stored(names)
      @saved_changes = names.to_h { |name| [name, [changes_hash[name], @attributes[name]]] }
      clear_changes
      true
    end
  end
  private_constant :Storing
end
