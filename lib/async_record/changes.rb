# frozen_string_literal: true

# Owns the knowledge of what was changed in a record since it was loaded or saved. An assignment is noticed at once; a
# JSON document changed in place is found by comparing; text changed in place must be announced.

module AsyncRecord
  # Dirty tracking.
  module Changes
    # @return [Boolean]
    def changed?
      !changes_now.empty?
    end

    # @return [Array<String>] names of what was changed since loading or saving
    def changed
      changes_now.keys
    end

    # @return [Hash{String => Array(Object, Object)}] old and new value
    def changes
      changes_now.to_h { |name, old| [name, [old, values[name]]] }
    end

    # @return [Hash{String => Array(Object, Object)}] what the last save wrote
    def saved_changes
      @saved_changes || {}
    end
    alias previous_changes saved_changes

    # @param name [String, Symbol]
    # @return [Boolean]
    def attribute_changed?(name)
      changes_now.key?(name.to_s)
    end

    # @param name [String, Symbol]
    # @return [Object] the value before the change
    def attribute_was(name)
      changes_now.fetch(name.to_s) { values[name.to_s] }
    end

    # Says that a value was changed in place (`name << "x"`), which cannot be seen from outside. JSON documents need
    # no telling.
    #
    # @param name [String, Symbol]
    # @return [void]
    def attribute_will_change!(name)
      name = name.to_s
      changes_hash[name] = values.fetch(name) { missing_attribute(name) }.dup unless changes_hash.key?(name)
    end

    # Takes all changes back.
    # @return [void]
    def restore_attributes
      changes_now.each { |name, old| @attributes[name] = old }
      clear_changes
    end

    private

    def note_change(name, old, value)
      changed = changes_hash
      if changed.key?(name)
        changed.delete(name) if !@new_record && changed[name] == value
      elsif @new_record || old != value
        changed[name] = old
      end
    end

    # Names and old values of what was assigned.
    def changes_hash
      @changed || (@changed = {})
    end

    # Documents may have been changed in place: what they were is kept as text since they were first read.
    def changes_now
      changed = changes_hash
      @documents&.each do |name, text|
        next if changed.key?(name) || JSON.generate(@attributes[name]) == text

        changed[name] = JSON.parse(text)
      end
      changed
    end

    def remember_document(name, value)
      return if @new_record || @documents&.key?(name) || changes_hash.key?(name)

      (@documents ||= {})[name] = JSON.generate(value)
    end

    def clear_changes
      @changed = @documents = nil
    end
  end
  private_constant :Changes
end
