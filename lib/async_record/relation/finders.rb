# frozen_string_literal: true

# Owns the terminal methods that return records: all of them, one of them, by key, or a new one if there is none.

module AsyncRecord
  class Relation
    # Reads records.
    module Finders
      # @yieldparam records [Array<Base>]
      # @yieldparam error [Error, nil]
      # @return [Array<Base>, Pending]
      def to_a(&block)
        load_records(block)
      end
      alias load to_a
      alias entries to_a

      # Goes through the records; waits.
      # @yieldparam record [Base]
      # @return [self, Enumerator]
      def each(&block)
        return to_enum(:each) unless block

        waiting.to_a.each(&block)
        self
      end

      # Finds by primary key. Waiting for a key that does not exist raises; the block form gets nil, as it did in 2010.
      #
      # @example
      #   User.find(1)
      #   User.find(1) { |user, error| … }
      #   User.find([1, 2])                # or find(1, 2)
      #   OrderLine.find([7, 1])           # a composite key
      # @param key [Object, Array] a String is cast by the column's type
      # @return [Base, Array<Base>, Pending]
      # @raise [RecordNotFound]
      def find(key, *more, &block)
        return find_many([key, *more], block) unless more.empty?
        return find_many(key, block) if key.is_a?(Array) && !composite_key?(key)

        asked = find_at_once(key, block) if block || @async
        return asked if asked

        perform(block) { find_one(key) || (block ? nil : not_found(key)) }
      end

      # @return [Base, nil, Pending] some record that matches, or nil
      def find_by(condition = nil, *binds, **named, &block)
        where(condition, *binds, **named).take(&block)
      end

      # @return [Base, Pending]
      # @raise [RecordNotFound]
      def find_by!(condition = nil, *binds, **named, &block)
        where(condition, *binds, **named).take!(&block)
      end

      # @param count [Integer, nil] how many; nil for one record instead of an Array
      # @return [Base, nil, Array<Base>, Pending] in no particular order
      def take(count = nil, &block)
        at_once(block, count ? :instantiate : :instantiate_one) { limit(count || 1) } ||
          perform(block) { limited(count) }
      end

      # @return [Base, Pending]
      # @raise [RecordNotFound]
      def take!(&block)
        at_once(block, :instantiate_one!) { limit(1) } || perform(block) { limited(nil) || not_found }
      end

      # @return [Base, nil, Array<Base>, Pending] by the relation's order, else by primary key
      def first(count = nil, &block)
        at_once(block, count ? :instantiate : :instantiate_one) { ordered.limit(count || 1) } ||
          perform(block) { ordered.limited(count) }
      end

      # @return [Base, Pending]
      # @raise [RecordNotFound]
      def first!(&block)
        at_once(block, :instantiate_one!) { ordered.limit(1) } || perform(block) { ordered.limited(nil) || not_found }
      end

      # @return [Base, nil, Array<Base>, Pending] the last one, or the last few in order
      def last(count = nil, &block)
        perform(block) { limit_value ? last_of_loaded(count) : last_by_query(count) }
      end

      # @return [Base, Pending]
      # @raise [RecordNotFound]
      def last!(&block)
        perform(block) { (limit_value ? last_of_loaded(nil) : last_by_query(nil)) || not_found }
      end

      # @return [Base, Pending] the only record that matches
      # @raise [RecordNotFound, SoleRecordExceeded]
      def sole(&block)
        perform(block) do
          found = limit(2).waiting.to_a
          raise SoleRecordExceeded, "more than one #{model.name || model.table_name} matches" if found.size > 1

          found.first || not_found
        end
      end

      # @return [Base, Pending] {#sole} under a condition
      def find_sole_by(condition = nil, *binds, **named, &block)
        where(condition, *binds, **named).sole(&block)
      end

      # @return [Base] new, with what the relation's conditions say; for an owner, if the relation came from one
      def new(attributes = {}, **pairs)
        attributes = assignments.merge(stringified(attributes.to_h.merge(pairs)))
        @origin ? @origin.build(attributes) : model.new(attributes)
      end
      alias build new

      # Finds the record with these attributes or creates it. Two callers at once may both create; a unique index turns
      # the second into an error, which this method answers by finding the first one's record.
      #
      # @yieldparam record [Base]
      # @return [Base, Pending]
      def find_or_create_by(attributes, extra = {}, &block)
        perform(block) { found_or_created(attributes, extra, :create) }
      end

      # @return [Base, Pending]
      # @raise [RecordInvalid]
      def find_or_create_by!(attributes, extra = {}, &block)
        perform(block) { found_or_created(attributes, extra, :create!) }
      end

      # Creates the record, or finds the one that a unique index has already. What is rarely there is best created
      # first: no moment passes between looking and creating.
      #
      # @return [Base, Pending]
      def create_or_find_by(attributes, extra = {}, &block)
        perform(block) { created_or_found(attributes, extra, :create) }
      end

      # @return [Base, Pending]
      # @raise [RecordInvalid]
      def create_or_find_by!(attributes, extra = {}, &block)
        perform(block) { created_or_found(attributes, extra, :create!) }
      end

      # @return [Base, Pending] found, or new and not saved
      def find_or_initialize_by(attributes, extra = {}, &block)
        perform(block) { where(attributes).waiting.take || new(attributes.merge(extra)) }
      end

      # Creates a record with these attributes and what the relation's conditions say; of a list, one for each.
      #
      # @return [Base, Array<Base>, Pending]
      def create(attributes = {}, **pairs, &block)
        attributes = attributes.to_h.merge(pairs) unless attributes.is_a?(Array)
        created_directly(attributes, block) || perform(block) { created(attributes, :save) }
      end

      # @return [Base, Array<Base>, Pending]
      # @raise [RecordInvalid]
      def create!(attributes = {}, **pairs, &block)
        attributes = attributes.to_h.merge(pairs) unless attributes.is_a?(Array)
        created_directly(attributes, block) || perform(block) { created(attributes, :save!) }
      end

      protected

      def limited(count)
        relation = limit(count || 1).waiting
        count ? relation.to_a : relation.only_record
      end

      def only_record
        instantiate_one(run(select_statement)) unless @none
      end

      def instantiate_one!(rows)
        instantiate_one(rows) || not_found
      end

      # The same relation in the style that waits, for use within a terminal method.
      def waiting
        async? ? with(:@async, false) : self
      end

      def ordered
        orders.empty? ? order(*model.key_columns) : self
      end

      private

      def find_one(key)
        return nil if key.nil? || @none

        key = model.cast_key(key)
        statement = bare? && model.table_mapping&.find_statement(key)
        return where(model.key_condition(key)).limited(nil) unless statement

        model.instantiate_first(run(statement))
      end

      # (see Execution#at_once)
      def find_at_once(key, block)
        return if @transaction || @primary || key.nil? || !bare?

        database = model.database
        mapping = model.known_table_mapping(database) if database.direct?
        statement = mapping&.find_statement(model.cast_key(key)) || return
        return database.ask(statement, block, model, :instantiate_first, timeout: @timeout_value) if block

        database.ask(statement, nil, found_or_missing(key), :call, timeout: @timeout_value)
      rescue StandardError
        nil
      end

      # A promise has to tell that there is none; who gives a block gets nil.
      def found_or_missing(key)
        ->(rows) { model.instantiate_first(rows) || not_found(key) }
      end

      def find_many(keys, block)
        perform(block) do
          found = where(model.keys_condition(keys)).waiting.to_a.to_h { |record| [record.id, record] }
          keys.map { |key| found[model.cast_key(key)] || not_found(key) }
        end
      end

      def last_by_query(count)
        records = ordered.reverse_order.limit(count || 1).waiting.to_a
        count ? records.reverse : records.first
      end

      def last_of_loaded(count)
        records = ordered.waiting.to_a
        count ? records.last(count) : records.last
      end

      # A composite key is an Array itself.
      def composite_key?(key)
        model.key_columns.size > 1 && !key.first.is_a?(Array)
      end

      def found_or_created(attributes, extra, create)
        where(attributes).waiting.take || within_savepoint do
          created(attributes.merge(extra), create == :create ? :save : :save!)
        end
      rescue UniqueViolation
        where(attributes).waiting.take || raise
      end

      def created_or_found(attributes, extra, create)
        within_savepoint { created(attributes.merge(extra), create == :create ? :save : :save!) }
      rescue UniqueViolation
        where(attributes).waiting.take || raise
      end

      # An error ends a whole transaction in PostgreSQL, unless a savepoint stands before it.
      def within_savepoint(&work)
        open = @transaction || Context[database]
        open ? open.savepoint(&work) : yield
      end

      def created(attributes, save)
        return attributes.map { |one| created(one, save) } if attributes.is_a?(Array)

        return new(attributes).tap { |record| record.public_send(save, using: transaction) } unless @origin

        attributes = assignments.merge(stringified(attributes.to_h))
        return @origin.create(attributes, save: save) unless transaction

        Context.with(transaction.database, transaction) { @origin.create(attributes, save: save) }
      end

      # @return [Pending, nil] nil if code that waits has to make the record; never after its writers have run once
      def created_directly(attributes, block)
        return if block.nil? || @origin || @transaction || attributes.is_a?(Array) || !model.creates_at_once?

        record = new(attributes)
        record.store_directly(block, answer: record) || perform(block) { record.tap(&:save!) }
      rescue StandardError => error
        perform(block) { raise error }
      end

      def assignments
        conditions.empty? ? {} : conditions.map(&:assignments).reduce(:merge)
      end

      def stringified(attributes)
        attributes.transform_keys(&:to_s)
      end

      def not_found(key = nil)
        detail = key.nil? ? "that matches" : "with #{model.primary_key} #{key.inspect}"
        raise RecordNotFound, "there is no #{model.name || model.table_name} #{detail}"
      end
    end
    private_constant :Finders
  end
end
