# frozen_string_literal: true

# Owns what keeps two writers of one row apart: locks that the database holds until the end of a transaction, and the
# counter `lock_version`, which notices that someone else was first. SQLite has one writer at a time and no row locks.

module AsyncRecord
  # Pessimistic and optimistic locking of records.
  module Locking
    # What concerns the class.
    module ClassMethods
      # Whether a `lock_version` column counts changes; what the superclass says, unless set.
      # @return [Boolean, nil] nil and true say yes
      def lock_optimistically
        return @lock_optimistically unless @lock_optimistically.nil?

        superclass.lock_optimistically if superclass.respond_to?(:lock_optimistically)
      end

      # @param value [Boolean]
      def lock_optimistically=(value)
        @lock_optimistically = value
        forget_schema
      end

      # @param name [String, Symbol]
      def locking_column=(name)
        @locking_column = name
        forget_schema
      end

      # @return [String] "lock_version", unless set
      def locking_column
        (@locking_column || (superclass.respond_to?(:locking_column) ? superclass.locking_column : "lock_version")).to_s
      end

      # @return [String, nil] the column, if the table has it and it shall be used
      # @api private
      def used_locking_column
        last_mapping&.locking_column
      end
    end

    # Reads the row again and locks it until the transaction ends.
    #
    # @example
    #   AsyncRecord.transaction { account.lock!; account.update!(balance: account.balance - 5) }
    # @param mode [Object] as in {Relation#lock}
    # @return [self, Pending]
    # @raise [TransactionClosed] outside of a transaction, where a lock would end at once
    # @raise [RecordNotSaved] if the record has changes, which reading it again would lose
    def lock!(mode = true, using: nil, &block) # rubocop:disable Style/OptionalBooleanParameter -- as ActiveRecord has it
      in_style(block, using) { lock_now(mode) }
    end

    # Runs a block in a transaction that has locked the row.
    #
    # @example
    #   account.with_lock { account.update!(balance: account.balance - 5) }
    # @return [Object] what the block returns
    def with_lock(mode = true, **options) # rubocop:disable Style/OptionalBooleanParameter -- as ActiveRecord has it
      AsyncRecord.transaction(database: self.class.database, **options) do |transaction|
        lock_now(mode)
        yield transaction
      end
    end

    private

    def lock_now(mode)
      raise RecordNotSaved, "#{self.class} has changes (#{changed.join(', ')}); save them before lock!" if changed?

      unless Context[self.class.database]
        raise TransactionClosed, "lock! needs a transaction, which keeps the lock: use with_lock, or " \
                                 "AsyncRecord.transaction { record.lock! }"
      end

      take_row(Relation.new(self.class).lock(mode))
    end

    def locked_by_version?
      !self.class.used_locking_column.nil?
    end

    def start_counting
      column = self.class.used_locking_column
      write_attribute(column, 0) if column && @attributes[column].nil?
    end

    # @return [Relation] the row, if nobody has changed it since it was read
    def unchanged_row
      column = self.class.used_locking_column
      column ? row_relation.where(column => attribute_was(column)) : row_relation
    end

    # @return [Hash] the changes, with the next number
    def counted(changes)
      column = self.class.used_locking_column
      return changes unless column

      changes.merge(column => (attribute_was(column) || 0) + 1)
    end

    # @raise [RecordNotFound, StaleRecordError]
    def gone(action)
      if self.class.used_locking_column
        raise StaleRecordError, "someone else changed or deleted this #{self.class} (#{self.class.primary_key} " \
                                "#{id.inspect}) since it was read; reload it and try again"
      end
      raise RecordNotFound, "#{self.class} with #{self.class.primary_key} #{id.inspect} is gone; nothing was #{action}"
    end
  end
  private_constant :Locking
end
