# frozen_string_literal: true

# Owns the storing of records: inserting, updating, deleting, reloading. Each method waits, or calls back when given a
# block. A record with callbacks is stored in a transaction, so that the callbacks' work stands or falls with it.

module AsyncRecord
  # Stores records.
  module Persistence
    # @return [Boolean] whether the record was never stored
    def new_record?
      @new_record ? true : false
    end

    # @return [Boolean]
    def destroyed?
      @destroyed ? true : false
    end

    # @return [Boolean] whether there is a row for it
    def persisted?
      !new_record? && !destroyed?
    end

    # Inserts a new record, or writes what was changed.
    #
    # @example
    #   user.save                        # => true or false
    #   user.save { |saved, error| … }
    # @param validate [Boolean]
    # @param using [Transaction, nil]
    # @return [Boolean, Pending] false if validation or a callback refused
    def save(validate: true, using: nil, &block)
      in_style(block) { store(validate, using) }
    end

    # @return [true, Pending]
    # @raise [RecordInvalid, RecordNotSaved]
    def save!(validate: true, using: nil, &block)
      in_style(block) { store!(validate, using) }
    end

    # Assigns and saves.
    #
    # @example
    #   user.update(name: "ann")
    #   user.update({ name: "ann" }, using: tx) { |saved, error| … }
    # @return [Boolean, Pending]
    def update(attributes = {}, using: nil, **pairs, &block)
      assign_attributes(attributes.to_h.merge(pairs))
      save(using: using, &block)
    end

    # @return [true, Pending]
    # @raise [RecordInvalid, RecordNotSaved]
    def update!(attributes = {}, using: nil, **pairs, &block)
      assign_attributes(attributes.to_h.merge(pairs))
      save!(using: using, &block)
    end

    # Writes columns as they are: no validation, no callbacks, no timestamps.
    # @return [true, Pending]
    def update_columns(attributes = {}, using: nil, **pairs, &block)
      attributes = attributes.to_h.merge(pairs)
      in_style(block) do
        row_relation(using).update_all(attributes)
        attributes.each { |name, value| write_attribute(name.to_s, value) }
        attributes.each_key { |name| changes_hash.delete(name.to_s) }
        true
      end
    end

    # Sets `updated_at`, and the given columns, to now.
    # @return [true, Pending]
    def touch(*names, using: nil, &block)
      now = Time.now
      update_columns((self.class.timestamp_columns(:update) + names.map(&:to_s)).uniq.to_h { |name| [name, now] },
                     using: using, &block)
    end

    # Adds to a column, in the database and here.
    # @return [self, Pending]
    def increment!(name, by: 1, using: nil, &block)
      in_style(block) do
        row_relation(using).increment(name => by)
        write_attribute(name.to_s, (self[name] || 0) + by)
        changes_hash.delete(name.to_s)
        self
      end
    end

    # Deletes the row, with callbacks.
    #
    # @return [self, false, Pending] false if a callback refused
    def destroy(using: nil, &block)
      in_style(block) { remove(using) }
    end

    # @return [self, Pending]
    # @raise [RecordNotDestroyed]
    def destroy!(using: nil, &block)
      in_style(block) { remove(using) || raise(RecordNotDestroyed, "a callback refused to destroy #{inspect}") }
    end

    # Deletes the row, without callbacks.
    # @return [self, Pending]
    def delete(using: nil, &block)
      in_style(block) { erase(using) }
    end

    # Reads the row again and forgets changes.
    # @return [self, Pending]
    # @raise [RecordNotFound]
    def reload(using: nil, &block)
      in_style(block) do
        fresh = Relation.new(self.class).using(using).find(id)
        @attributes = fresh.attributes
        clear_changes
        self
      end
    end

    private

    def in_style(block, &work)
      block ? Pending.spawn(block, &work) : yield
    end

    def store(validate, using)
      return false if validate && !valid?

      atomically(using) { |tx| run_callbacks(:save) { new_record? ? insert(tx) : change(tx) } } != false
    end

    def store!(validate, using)
      raise RecordInvalid, self if validate && !valid?

      store(false, using) || raise(RecordNotSaved, "a callback refused to save #{inspect}")
    end

    def remove(using)
      removed = atomically(using) { |tx| run_callbacks(:destroy) { erase(tx) } }
      removed == false ? false : self
    end

    def erase(using)
      row_relation(using).delete_all unless new_record?
      @destroyed = true
      self
    end

    # Callbacks may write too, so they share a transaction with the record; without any, one statement is enough.
    def atomically(using)
      return after_commit_of(yield(using), using) unless self.class.callbacks?

      Transaction.run(self.class.database, within: using) { |tx| after_commit_of(yield(tx), tx) }
    end

    def after_commit_of(result, using)
      return result if result == false || !self.class.commit_callbacks?

      open = using || Context[self.class.database]
      open ? open.after_commit { run_commit_callbacks } : run_commit_callbacks
      result
    end

    def insert(using)
      @last_action = :create
      run_callbacks(:create) do
        stamp(:create)
        names = changes_hash.keys
        load_inserted(insert_statement(names), using)
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

    def load_inserted(statement, using)
      result = self.class.database.await(statement.sql, statement.binds, transaction: using)
      return load_key(result.last) if result.is_a?(Array)

      result.hash_at(0).each { |name, value| @attributes[name] = Type.cast(self.class.kind_of_attribute(name), value) }
    end

    def load_key(key)
      name = self.class.primary_key
      @attributes[name] = key if key && @attributes[name].nil?
    end

    def change(using)
      @last_action = :update
      run_callbacks(:update) do
        next stored([]) unless changed?

        stamp(:update)
        names = changed
        write_changes(names, using)
        stored(names)
      end
    end

    def write_changes(names, using)
      changes = names.to_h { |name| [name, stored_value(name)] }
      return unless row_relation(using).update_all(changes).zero?

      raise RecordNotFound, "#{self.class} with #{self.class.primary_key} #{id.inspect} is gone; nothing was updated"
    end

    # The row as it is in the database, even if the key was assigned anew.
    def row_relation(using)
      key = self.class.primary_key
      value = attribute_was(key)
      raise RecordNotFound, "this #{self.class} has no #{key} yet; save it first" if value.nil?

      Relation.new(self.class).using(using).where(key => value)
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
  private_constant :Persistence
end
