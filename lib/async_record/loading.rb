# frozen_string_literal: true

# Owns the way from the schema and from rows to records: which columns a model has, what their values are, the readers
# on the class, and records that take their values out of Rust when first asked. Refuses to overwrite a method that
# records already have: such a column is read with `record["name"]`.

require_relative "table_mapping"

module AsyncRecord
  # The schema as a model sees it, and the making of records.
  module Loading
    # Kernel's private methods that this library calls on records; a column of such a name gets no reader.
    RESERVED = %w[raise throw catch lambda proc block_given? loop binding initialize].freeze
    PLAIN = /\A[a-z]\w*\z/
    NOTHING = {}.freeze
    NO_STAMPS = [].freeze
    private_constant :RESERVED, :PLAIN, :NOTHING, :NO_STAMPS

    # @return [Array<String>] the names of the columns; waits the first time
    def column_names
      table!.names
    end

    # @return [Array<Column>] waits the first time
    def columns
      table!.columns
    end

    # Forgets what is known of the table, after it was changed outside of this process.
    # @return [void]
    def reset_schema
      database.schema.forget(table_name)
      forget_schema
    end
    alias reset_column_information reset_schema

    # @param value [Boolean] whether `created_at` and `updated_at` are filled
    attr_writer :record_timestamps

    # @return [Boolean]
    def record_timestamps
      return @record_timestamps unless @record_timestamps.nil?

      superclass.respond_to?(:record_timestamps) ? superclass.record_timestamps : true
    end

    # @return [TableMapping, nil] what follows from the table; nil if the database has none; waits the first time
    # @api private
    def table_mapping
      database = self.database
      found = database.schema.table(table_name)
      found ? mapping_of(found, database) : @mapping = nil
    end

    # @return [TableMapping, nil] the same without waiting; nil also while the table is unknown
    # @api private
    def known_table_mapping(database = self.database)
      found = database.schema.known(table_name)
      found && mapping_of(found, database)
    end

    # @return [Table, nil] nil if the database has no such table; waits the first time
    # @api private
    def table
      table_mapping&.table
    end

    # @return [Table, nil] what is known already
    # @api private
    def known_table
      known_table_mapping&.table
    rescue ConfigurationError
      nil
    end

    # @return [Table]
    # @raise [QueryError] if the database has no such table
    # @api private
    def table!
      table || raise(QueryError, "there is no table #{table_name} in #{database.inspect}; " \
                                    "create it in a migration, or name another one with `self.table_name =`")
    end

    # @return [Dialect] the database's, or SQLite's while there is none
    # @api private
    def dialect_for_display
      database.dialect
    rescue ConfigurationError
      Dialect.for(:sqlite)
    end

    # @return [Symbol, nil] what an attribute's values are
    # @api private
    def kind_of_attribute(name)
      attribute_kinds[name]
    end

    # @return [Boolean] whether the driver certainly reads all values as the model wants them; asks no database
    # @api private
    def read_by_driver?
      mapping = @mapping
      mapping ? mapping.retyped.empty? : declared_kinds.empty? && database.dialect.tells_documents?
    end

    # @return [Hash{String => Symbol, #cast}] attributes whose values the driver cannot read as the model wants them
    # @api private
    def retyped
      last_mapping&.retyped || NOTHING
    end

    # @param row [Hash{String => Object}] as the driver read it
    # @return [Hash] the same, as the model wants it
    # @api private
    def complete_row(row)
      mapping = last_mapping
      return mapping.complete_row(row) if mapping

      virtual_attributes.each_key { |name| row[name] = nil }
      row
    end

    # @return [Array<String>] the timestamp columns that an action sets
    # @api private
    def timestamp_columns(action)
      return NO_STAMPS unless record_timestamps

      last_mapping&.stamps&.fetch(action) || NO_STAMPS
    end

    # @param rows [AsyncRecord::Rows]
    # @return [Array<Base>]
    # @api private
    def instantiate_all(rows)
      size = rows.size
      return [] if size.zero?

      define_attributes(rows.columns)
      records = Array.new(size) { |index| allocate.load_from(rows, index) }
      records.each(&:loaded) unless loading_hooks.empty?
      records
    end

    # @param rows [AsyncRecord::Rows] with the table's columns, whose readers are defined
    # @return [Base, nil] the record of the first one
    # @api private
    def instantiate_first(rows)
      return if rows.size.zero?

      record = allocate.load_from(rows, 0)
      record.loaded unless loading_hooks.empty?
      record
    end

    # @return [Hash{String => Object}] the attributes of a new record
    # @api private
    def default_attributes
      table!
      last_mapping.default_attributes
    end

    # @return [Hash{String => Symbol, #cast}] attributes that are no columns
    # @api private
    def virtual_attributes
      mapping = last_mapping
      mapping ? mapping.virtual : declared_virtual([])
    end

    # Defines readers and writers that are not there yet.
    #
    # @param names [Array<String>]
    # @return [void]
    # @api private
    def define_attributes(names)
      return if names.equal?(@last_defined)

      names.each { |name| define_attribute(name) unless @defined.key?(name) }
      @last_defined = names
    end

    # @return [Hash{String, Symbol => Symbol}] names that may be assigned, and the methods that do it, as far as used
    # @api private
    attr_reader :writers

    # Gives a new class its module of readers.
    # @api private
    def prepare_loading
      @defined = {}
      @writers = {}
      @last_defined = nil
      forget_schema
      @readers = Module.new
      const_set(:GeneratedAttributes, @readers)
      private_constant :GeneratedAttributes
      include @readers
    end

    # Drops what was derived from the table, here and in subclasses.
    # @return [nil]
    # @api private
    def forget_schema
      subclasses.each(&:forget_schema)
      @mapping = nil
    end

    private

    # The readers are there before anybody sees the mapping that promises them.
    def mapping_of(found, database)
      mapping = @mapping
      return mapping if mapping && mapping.source.equal?(found)

      mapping = TableMapping.new(self, found, database.dialect)
      define_attributes(found.names + attribute_aliases.keys + mapping.virtual.keys)
      @mapping = mapping
    end

    # What was learned last holds until something else is: records that are there already need no look at the schema.
    def last_mapping
      @mapping || table_mapping
    end

    def attribute_kinds
      mapping = last_mapping
      mapping ? mapping.kinds : declared_virtual([])
    end

    def define_attribute(name)
      @defined[name] = true
      return if reserved?(name)

      # It was made for a column "state" where this one is "state_was".
      @readers.remove_method(name) if @readers.method_defined?(name)
      define_reader(name)
      define_accessors(name)
    end

    # (see Changes)
    def define_accessors(name)
      accessor("#{name}=") { |value| write_attribute(name, value) }
      accessor("#{name}?") { truthy_attribute?(name) }
      accessor("#{name}_changed?") { |**values| attribute_changed?(name, **values) }
      accessor("#{name}_was") { attribute_was(name) }
      accessor("#{name}_change") { changes[name] }
      accessor("#{name}_will_change!") { attribute_will_change!(name) }
      accessor("restore_#{name}!") { restore_attributes([name]) }
      accessor("saved_change_to_#{name}?") { |**values| saved_change_to_attribute?(name, **values) }
      accessor("saved_change_to_#{name}") { saved_changes[name] }
      accessor("#{name}_before_last_save") { attribute_before_last_save(name) }
    end

    # A column of the same name matters more, and so does what records can do already.
    def accessor(method, &body)
      @readers.define_method(method, &body) unless @readers.method_defined?(method) || reserved?(method)
    end

    # A method made of text is called a third faster than one made of a block; not every column's name can be text.
    def define_reader(name)
      return @readers.define_method(name) { read_attribute(name) } unless PLAIN.match?(name)

      @readers.class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
        # frozen_string_literal: true
        def #{name} = read_attribute(#{name.dump})
      RUBY
    end

    # "id" is ours to answer whatever the column is called.
    def reserved?(name)
      return true if Base.method_defined?(name) || RESERVED.include?(name)

      Base.private_method_defined?(name) && Base.instance_method(name).owner.name.to_s.start_with?("AsyncRecord")
    end
  end
  private_constant :Loading
end
