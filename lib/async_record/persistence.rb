# frozen_string_literal: true

# Owns the methods that store a record: saving, updating, deleting, reloading. Each waits, or calls back when given a
# block. How a row is written is in Storing.

require_relative "storing"

module AsyncRecord
  # Stores records.
  module Persistence
    include Storing

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
      in_style(block, using) { store(validate) }
    end

    # @return [true, Pending]
    # @raise [RecordInvalid, RecordNotSaved]
    def save!(validate: true, using: nil, &block)
      in_style(block, using) { store!(validate) }
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
      in_style(block, using) do
        row_relation.update_all(attributes)
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
      in_style(block, using) do
        row_relation.increment(name => by)
        write_attribute(name.to_s, (self[name] || 0) + by)
        changes_hash.delete(name.to_s)
        self
      end
    end

    # Deletes the row, with callbacks.
    #
    # @return [self, false, Pending] false if a callback refused
    def destroy(using: nil, &block)
      in_style(block, using) { remove }
    end

    # @return [self, Pending]
    # @raise [RecordNotDestroyed]
    def destroy!(using: nil, &block)
      in_style(block, using) { remove || raise(RecordNotDestroyed, "a callback refused to destroy #{inspect}") }
    end

    # Deletes the row, without callbacks.
    # @return [self, Pending]
    def delete(using: nil, &block)
      in_style(block, using) { erase }
    end

    # Reads the row again; forgets changes and loaded associations.
    # @return [self, Pending]
    # @raise [RecordNotFound]
    def reload(using: nil, &block)
      in_style(block, using) do
        fresh = Relation.new(self.class).find(id)
        @attributes = fresh.attributes
        clear_changes
        forget_associations
        self
      end
    end

    private

    # Waits, or starts and calls back. The work is done within the transaction that was handed on; the callback is not.
    def in_style(block, using = nil, &work)
      database = self.class.database
      scoped = using ? -> { Context.with(database, using, &work) } : work
      block ? Pending.spawn(block, &scoped) : scoped.call
    end
  end
  private_constant :Persistence
end
