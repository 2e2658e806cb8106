# frozen_string_literal: true

# Owns the knowledge of what was changed in a record since it was loaded or saved. An assignment is noticed at once;
# what was changed in place (text, a document) is found by comparing with the row as it was read, when somebody asks.
# Reading a value costs nothing for that.

module AsyncRecord
  # Dirty tracking.
  module Changes
    # @return [Boolean]
    def changed?
      !changes_now.empty?
    end
    alias has_changes_to_save? changed?

    # @return [Array<String>] names of what was changed since loading or saving
    def changed
      changes_now.keys
    end

    # @return [Hash{String => Array(Object, Object)}] old and new value
    def changes
      changes_now.to_h { |name, old| [name, [old, values[name]]] }
    end

    # @return [Hash{String => Object}] what was changed, as it was
    def changed_attributes
      changes_now.dup
    end

    # @return [Hash{String => Array(Object, Object)}] what the last save wrote
    def saved_changes
      @saved_changes || {}
    end
    alias previous_changes saved_changes

    # @return [Boolean]
    def saved_changes?
      !saved_changes.empty?
    end

    # @example
    #   post.attribute_changed?(:state, from: "draft", to: "live")
    # @param name [String, Symbol]
    # @return [Boolean]
    def attribute_changed?(name, **values)
      name = real_name(name)
      changes_now.key?(name) && change_fits?(changes[name], values)
    end

    # @param name [String, Symbol]
    # @return [Boolean] whether the last save wrote it
    def saved_change_to_attribute?(name, **values)
      change = saved_changes[real_name(name)]
      !change.nil? && change_fits?(change, values)
    end

    # @param name [String, Symbol]
    # @return [Object] the value before the change
    def attribute_was(name)
      name = real_name(name)
      changes_now.fetch(name) { values[name] }
    end

    # @param name [String, Symbol]
    # @return [Object] the value before the last save
    def attribute_before_last_save(name)
      name = real_name(name)
      change = saved_changes[name]
      change ? change.first : values[name]
    end

    # Says that a value is about to be changed in a way that cannot be seen, so that it is written.
    #
    # @param name [String, Symbol]
    # @return [void]
    def attribute_will_change!(name)
      name = real_name(name)
      value = values.fetch(name) { missing_attribute(name) }
      changes_hash[name] = Type.copy(self.class.kind_of_attribute(name), value) unless changes_hash.key?(name)
    end

    # Takes changes back.
    #
    # @param names [Array<String, Symbol>, nil] nil for all
    # @return [void]
    def restore_attributes(names = nil)
      names = names ? names.map { |name| real_name(name) } : changes_now.keys
      changes_now.slice(*names).each do |name, old|
        @attributes[name] = old
        changes_hash.delete(name)
        @raw&.delete(name)
      end
    end

    # Forgets that anything was changed; the values stay.
    # @return [void]
    def clear_changes_information
      clear_changes
      @saved_changes = nil
    end

    private

    def change_fits?(change, values)
      unknown = values.keys - %i[from to]
      raise ArgumentError, "from: and to:, not #{unknown.first}:" unless unknown.empty?

      old, new = change
      (!values.key?(:from) || values[:from] == old) && (!values.key?(:to) || values[:to] == new)
    end

    def track(name, old, value)
      changed = changes_hash
      return changed[name] = old if @new_record && !changed.key?(name)

      old = changed.fetch(name) { pristine_value(name, old) }
      @new_record || old != value ? changed[name] = old : changed.delete(name)
    end

    # Names and old values of what was assigned.
    def changes_hash
      @changed || (@changed = {})
    end

    # @return [Hash] with what was changed in place
    def changes_now
      changed = changes_hash
      return changed unless @attributes

      @attributes.each do |name, value|
        next if value.frozen? || changed.key?(name)

        old = pristine[name]
        changed[name] = old unless same_value?(name, old, value)
      end
      changed
    end

    # Objects of the program's own may not compare, and no NaN does: what they become in the database, or are, does.
    def same_value?(name, old, value)
      return true if old.equal?(value) || old == value

      kind = self.class.kind_of_attribute(name)
      !old.nil? && kind.respond_to?(:dump) && kind.dump(old) == kind.dump(value)
    end

    # What was changed in place before it was assigned anew was something else once.
    def pristine_value(name, old)
      old.frozen? || !@attributes.key?(name) ? old : pristine[name]
    end

    # The values as they were read or written last.
    def pristine
      @pristine ||= pristine_row
    end

    def pristine_row
      values
      return self.class.default_attributes if @rows.nil?

      row = typed_row(@rows, @index)
      release_row
      row
    end

    def clear_changes
      @changed = @raw = nil
      return unless @attributes

      release_row
      @pristine = copied_values
    end

    # @return [Hash] the values, of which no change in place is a change here
    def copied_values
      copies = @attributes.dup
      @attributes.each_pair { |name, value| copies[name] = copy_of(name, value) unless value.frozen? }
      copies
    end

    def copy_of(name, value)
      Type.copy(self.class.kind_of_attribute(name), value)
    end
  end
  private_constant :Changes
end
