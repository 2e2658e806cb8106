# frozen_string_literal: true

# Owns the way from the schema and from rows to records: which columns a model has, what their values are, the readers
# on the class, and records that take their values out of Rust when first asked. Refuses to overwrite a method that
# records already have: such a column is read with `record["name"]`.

module AsyncRecord
  # The schema as a model sees it, and the making of records.
  module Loading
    # Kernel's private methods that this library calls on records; a column of such a name gets no reader.
    RESERVED = %w[raise throw catch lambda proc block_given? loop binding initialize].freeze
    PLAIN = /\A[a-z]\w*\z/
    private_constant :RESERVED, :PLAIN

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

    # Declares an attribute's type where the column's own says too little, or a default.
    #
    # @example
    #   attribute :settings, :json, default: {}
    # @param type [Symbol, nil] as in a migration
    # @param default [Object, Proc]
    # @return [void]
    def attribute(name, type = nil, default: nil)
      declared_kinds[name.to_s] = Type.for(type.to_s) if type
      declared_defaults[name.to_s] = default unless default.nil?
      forget_schema
    end

    # @return [Table, nil] nil if the database has no such table; waits the first time
    # @api private
    def table
      found = database.schema.table(table_name)
      learn(found) unless found.equal?(@learned)
      found
    end

    # @return [Table, nil] what is known already
    # @api private
    def known_table
      database.schema.known(table_name)
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

    # @return [Shapes, nil] the SELECTs known for the table, if the table is; waits the first time
    # @api private
    def shapes
      database = self.database
      known_shapes(database) || (table && known_shapes(database))
    end

    # @return [Shapes, nil] the same without waiting
    # @api private
    def known_shapes(database)
      known = database.schema.known(table_name)
      return unless known

      learn(known) unless known.equal?(@learned)
      @shapes = Shapes.new(known, database.dialect) if @shapes.nil?
      @shapes
    end

    # @return [Dialect] the database's, or SQLite's while there is none
    # @api private
    def dialect_for_display
      database.dialect
    rescue ConfigurationError
      Dialect.for(:sqlite)
    end

    # @return [String, nil] the statement behind `find`, made once per table
    # @api private
    def find_statement
      known = table
      return nil unless known
      return @find_statement.last if @find_statement && @find_statement.first.equal?(known)

      (@find_statement = [known, build_find_statement]).last
    end

    # @return [Symbol, nil] what an attribute's values are
    # @api private
    def kind_of_attribute(name)
      kinds[name]
    end

    # @return [Hash{String => Symbol}] the kinds that `attribute` declares
    # @api private
    def retyped
      declared_kinds
    end

    # @return [Array<String>] the timestamp columns that an action sets
    # @api private
    def timestamp_columns(action)
      (action == :create ? %w[created_at updated_at] : %w[updated_at]).select { |name| kinds.key?(name) }
    end

    # @return [Object] a key as the primary key's column wants it
    # @api private
    def cast_key(key)
      key = key.id if key.is_a?(Base)
      return key if key.is_a?(Integer)

      kind = table && table[primary_key]&.kind
      kind ? Type.cast(kind, key) : key
    end

    # @param rows [AsyncRecord::Rows]
    # @return [Array<Base>]
    # @api private
    def instantiate_all(rows)
      size = rows.size
      return [] if size.zero?

      define_attributes(rows.columns)
      return instantiate_together(rows, size) if size > 1 && !reflections.empty?

      Array.new(size) { |index| allocate.load_from(rows, index) }
    end

    # @return [Hash{String => Object}] the attributes of a new record
    # @api private
    def default_attributes
      table!.columns.to_h { |column| [column.name, column.default] }
    end

    # @return [Hash{String => Object}]
    # @api private
    def declared_defaults
      @declared_defaults ||= superclass.respond_to?(:declared_defaults) ? superclass.declared_defaults.dup : {}
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

    # Gives a new class its module of readers.
    # @api private
    def prepare_loading
      @defined = {}
      @last_defined = @learned = @kinds = @find_statement = @shapes = nil
      @readers = Module.new
      const_set(:GeneratedAttributes, @readers)
      private_constant :GeneratedAttributes
      include @readers
    end

    # Drops what was derived from the table.
    # @api private
    def forget_schema
      @learned = @kinds = @find_statement = @shapes = nil
    end

    private

    def learn(table)
      @learned = table
      @kinds = @shapes = nil # made for one table
      define_attributes(table.names) if table
    end

    def kinds
      @kinds ||= (table&.columns || []).to_h { |column| [column.name, column.kind] }.merge(declared_kinds)
    end

    def declared_kinds
      @declared_kinds ||= superclass.respond_to?(:declared_kinds, true) ? superclass.send(:declared_kinds).dup : {}
    end

    def build_find_statement
      relation = Relation.new(self)
      compiler = Compiler.new(database.dialect, table_name, table)
      Compiler::Select.new(compiler, relation.where(primary_key => 0).limit(1)).write.statement.sql
    end

    def define_attribute(name)
      @defined[name] = true
      return if reserved?(name)

      define_reader(name)
      @readers.define_method("#{name}=") { |value| write_attribute(name, value) }
      @readers.define_method("#{name}?") { truthy_attribute?(name) }
      @readers.define_method("#{name}_changed?") { attribute_changed?(name) }
      @readers.define_method("#{name}_was") { attribute_was(name) }
    end

    # A method made of text is called a third faster than one made of a block; not every column's name can be text.
    def define_reader(name)
      return @readers.define_method(name) { read_attribute(name) } unless PLAIN.match?(name)

      @readers.class_eval("def #{name} = read_attribute(#{name.dump})", __FILE__, __LINE__)
    end

    # "id" is ours to answer whatever the column is called.
    def reserved?(name)
      return true if Base.method_defined?(name) || RESERVED.include?(name)

      Base.private_method_defined?(name) && Base.instance_method(name).owner.name.to_s.start_with?("AsyncRecord")
    end
  end
  private_constant :Loading
end
