# frozen_string_literal: true

# Owns what identifies a row: the primary key of a model, of one column or of several, and the conditions that name rows
# by it. Refuses to invent a key: a table without one can be asked and written, but not row by row.

module AsyncRecord
  # The primary key, as a model sees it.
  module Keys
    # @example
    #   Place.primary_key                       # => "code"
    #   OrderLine.primary_key                   # => ["order_id", "number"]
    # @return [String, Array<String>, nil] set, or inherited, or the table's own, or "id"; nil if there is none
    def primary_key
      declared_key || inferred_key
    end

    # @return [String, Array<String>, nil] the key that the program names
    # @api private
    def declared_key
      @primary_key || superclass_key
    end

    # @return [String, Array<String>, nil] the key of the records that are there: what {#primary_key} was when the table
    #   was read last
    # @api private
    def record_key
      mapping = @mapping
      mapping ? mapping.key : primary_key
    end

    # @param name [String, Symbol, Array<String, Symbol>]
    def primary_key=(name)
      forget_schema
      @primary_key = name.is_a?(Array) ? name.map { |part| part.to_s.dup.freeze }.freeze : name.to_s.dup.freeze
    end

    # The spelling of 2010.
    # @return [void]
    def set_primary_key(name) # rubocop:disable Naming/AccessorMethodName -- the name is the contract
      self.primary_key = name
    end

    # @return [Array<String>] the columns of the primary key
    # @raise [UnknownPrimaryKey] if there are none
    # @api private
    def key_columns
      table unless @primary_key || @mapping
      key = record_key || raise(UnknownPrimaryKey, missing_key)
      key.is_a?(Array) ? key : [key].freeze
    end

    # @param purpose [String] what needs one column
    # @return [String]
    # @raise [UnknownPrimaryKey] if the key has several columns, or there is none
    # @api private
    def single_key(purpose)
      columns = key_columns
      return columns.first if columns.one?

      raise UnknownPrimaryKey, "#{purpose} needs one column, but the key of #{self} is (#{columns.join(', ')}); " \
                               "name the column with select"
    end

    # @param key [Object, Array, Base] a value per column of the key
    # @return [Hash{String => Object}] the condition that holds for this row
    # @api private
    def key_condition(key)
      columns = key_columns
      return { columns.first => key } if columns.one?

      columns.zip(key_parts(key, columns)).to_h
    end

    # @param keys [Array]
    # @return [Hash] the condition that holds for these rows
    # @api private
    def keys_condition(keys)
      columns = key_columns
      return { columns.first => keys } if columns.one?

      { columns => keys.map { |key| key_parts(key, columns) } }
    end

    # @return [Object] a key as the primary key's columns want it
    # @api private
    def cast_key(key)
      return key if key.is_a?(Integer)

      key = key.id if key.is_a?(Base)
      columns = key_columns
      return cast_part(columns.first, key) if columns.one?

      columns.zip(key_parts(key, columns)).map { |column, part| cast_part(column, part) }
    end

    private

    def superclass_key
      superclass.primary_key if superclass < Base && superclass.instance_variable_get(:@primary_key)
    end

    # What was known of the table last counts, even if its description has been forgotten meanwhile.
    def inferred_key
      known_table
      mapping = @mapping
      mapping ? mapping.key : "id"
    end

    def key_parts(key, columns)
      parts = key.is_a?(Base) ? key.id : key
      return parts if parts.is_a?(Array) && parts.size == columns.size

      raise ArgumentError, "the key of #{self} is [#{columns.join(', ')}]; give a value for each"
    end

    def cast_part(column, value)
      kind = table && table[column]&.kind
      kind && !value.is_a?(Array) ? Type.cast(kind, value) : value
    end

    def missing_key
      "the table #{table_name} has no primary key, so that its rows cannot be told apart; " \
        "name the columns that do with `self.primary_key =`, or use where, update_all and delete_all"
    end
  end
  private_constant :Keys
end
