# frozen_string_literal: true

# Owns the methods that store a record: saving, updating, deleting, reloading. Each waits, or calls back when given a
# block. How a row is written is in Storing.

require_relative "direct_storing"
require_relative "storing"

module AsyncRecord
  # Stores records.
  module Persistence
    include Storing
    include DirectStoring

    NOTHING = {}.freeze
    private_constant :NOTHING

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
    # @param context [Symbol, nil] for checks declared with `on:`
    # @param touch [Boolean] whether the times of creation and change are set
    # @param using [Transaction, nil]
    # @return [Boolean, Pending] false if validation or a callback refused
    def save(validate: true, context: nil, touch: true, using: nil, &block)
      (using ? nil : store_directly(block, validate: validate, touch: touch)) ||
        in_style(block, using) { store(validate, context, touch: touch) }
    end

    # @return [true, Pending]
    # @raise [RecordInvalid, RecordNotSaved]
    def save!(validate: true, context: nil, touch: true, using: nil, &block)
      (using ? nil : store_directly(block, validate: validate, touch: touch)) ||
        in_style(block, using) { store!(validate, context, touch: touch) }
    end

    # Assigns and saves.
    #
    # @example
    #   user.update(name: "ann")
    #   user.update({ name: "ann" }, using: tx) { |saved, error| … }
    # @return [Boolean, Pending]
    def update(attributes = NOTHING, using: nil, **pairs, &block)
      assign_attributes(attributes.equal?(NOTHING) ? pairs : attributes.to_h.merge(pairs))
      save(using: using, &block)
    end

    # @return [true, Pending]
    # @raise [RecordInvalid, RecordNotSaved]
    def update!(attributes = NOTHING, using: nil, **pairs, &block)
      assign_attributes(attributes.equal?(NOTHING) ? pairs : attributes.to_h.merge(pairs))
      save!(using: using, &block)
    end

    # Writes one attribute without validation, with callbacks.
    # @return [Boolean, Pending]
    def update_attribute(name, value, using: nil, &block)
      assign_attributes(name => value)
      save(validate: false, using: using, &block)
    end

    # Writes columns as they are: no validation, no callbacks, no timestamps.
    # @return [true, Pending]
    def update_columns(attributes = {}, using: nil, **pairs, &block)
      attributes = attributes.to_h.merge(pairs).transform_keys { |name| real_name(name) }
      attributes.each_key { |name| refuse_readonly(name) }
      in_style(block, using) do
        row_relation.update_all(attributes)
        settle(attributes)
        true
      end
    end

    # {#update_columns} for one.
    # @return [true, Pending]
    def update_column(name, value, using: nil, &block)
      update_columns({ name => value }, using: using, &block)
    end

    # Sets `updated_at`, and the given columns, to now.
    # @return [true, Pending]
    def touch(*names, time: nil, using: nil, &block)
      in_style(block, using) { touch_now(names.map { |name| real_name(name) }, time || Time.now) }
    end

    # Adds to a column, in the database and here: two who add at once lose nothing.
    #
    # @param touch [Boolean] whether `updated_at` is set too
    # @return [self, Pending]
    def increment!(name, amount = 1, by: amount, touch: false, using: nil, &block)
      name = real_name(name)
      in_style(block, using) do
        row_relation.update_counters({ name => by }, touch: touch)
        settle(name => (self[name] || 0) + by)
        self
      end
    end

    # @return [self, Pending] {#increment!} downwards
    def decrement!(name, amount = 1, by: amount, touch: false, using: nil, &block)
      increment!(name, by: -by, touch: touch, using: using, &block)
    end

    # Adds to an attribute, here only.
    # @return [self]
    def increment(name, by = 1)
      raise ArgumentError, "#{name} can grow by a number, not by #{by.inspect}" unless by.is_a?(Numeric)

      self[name] = (self[name] || 0) + by
      self
    end

    # @return [self]
    def decrement(name, by = 1)
      increment(name, -by)
    end

    # Turns a boolean around, here only.
    # @return [self]
    def toggle(name)
      self[name] = !truthy_attribute?(name)
      self
    end

    # Turns a boolean around and stores it, without validation.
    # @return [Boolean, Pending]
    def toggle!(name, using: nil, &block)
      toggle(name).save(validate: false, using: using, &block)
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
      in_style(block, using) { take_row(Relation.new(self.class)) }
    end

    private

    def take_row(relation)
      self.class.key_columns
      @attributes = relation.find(id).attributes
      clear_changes
      forget_associations
      self
    end

    # Values that the database has already.
    def settle(changes)
      changes.each do |name, value|
        value = Type.cast(self.class.kind_of_attribute(name) || unknown_attribute(name), value)
        values[name] = value
        changes_hash.delete(name)
        @pristine = pristine.merge(name => copy_of(name, value))
      end
    end

    def touch_now(names, time)
      changes = (self.class.timestamp_columns(:update) + names).uniq.to_h { |name| [name, time] }
      changes = counted(changes)
      gone("touched") if unchanged_row.update_all(changes).zero?
      settle(changes)
      run_hooks(:after_touch)
      true
    end

    # Waits, or starts and calls back. The work is done within the transaction that was handed on; the callback is not.
    def in_style(block, using = nil, &work)
      return yield unless block || using

      database = self.class.database
      scoped = using ? -> { Context.with(database, using, &work) } : work
      block ? Pending.spawn(block, &scoped) : scoped.call
    end
  end
  private_constant :Persistence
end
