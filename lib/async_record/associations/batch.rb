# frozen_string_literal: true

# Owns that records which were loaded together are helped together: when one of them needs an association, the query is
# made for all. A batch knows no records, only the key columns of up to 1000 rows, in Rust; so a record that is kept
# keeps neither the others alive nor their other columns. What was loaded for the others waits here until they ask.
# Refuses to hand out what is older than this program's last write to the table: then the record asks for itself.

module AsyncRecord
  module Associations
    # The keys of records that came from one result.
    class Batch
      # Records that are helped by one query.
      SIZE = 1000
      LIBRARY = File.expand_path("..", __dir__)
      private_constant :LIBRARY

      # What was loaded for one association: lists by key, how often each may still be asked for, and how things were.
      Found = Struct.new(:lists, :asked, :state)
      private_constant :Found

      # The result itself remembers its batches, so that reading records costs nothing for them.
      #
      # @param rows [AsyncRecord::Rows]
      # @return [Batch, nil] the one with this row; nil if the row is alone
      def self.of(rows, model, index)
        return if rows.size < 2

        batches = rows.instance_variable_get(:@batches) || rows.instance_variable_set(:@batches, {})
        batches[index / SIZE] ||= new(rows, model, index - (index % SIZE))
      end

      # @param start [Integer] the first row
      def initialize(rows, model, start)
        names = model.association_keys & rows.columns
        @keys = rows.excerpt(names, start, SIZE)
        @found = {}
      end

      # @param reflection [Reflection]
      # @return [Boolean] whether it can help: the key was selected, and what was loaded is what would be loaded now
      def knows?(reflection)
        return false unless @keys.columns.include?(reflection.owner_key)

        found = @found[reflection.name]
        found.nil? || found.state == state(reflection)
      end

      # @return [Boolean]
      def loaded?(reflection)
        @found.key?(reflection.name)
      end

      # @param key [Object] the owner's
      # @return [Array<Base>, nil] what belongs to the key; nil once all that had the key have asked
      def take(reflection, key)
        found = @found.fetch(reflection.name)
        left = found.asked[key]
        return unless left

        left > 1 ? found.asked[key] = left - 1 : found.asked.delete(key)
        (left > 1 ? found.lists[key].dup : found.lists.delete(key)) || []
      end

      # Loads the association for all records.
      # @return [void]
      def load(reflection)
        state = state(reflection)
        keys = @keys.values_at_column(@keys.columns.index(reflection.owner_key))
        asked = keys.filter_map { |key| reflection.cast_key(key) }.tally
        @found[reflection.name] = Found.new(Children.fetch(reflection, asked.keys), asked, state)
        report(reflection, keys.size)
      end

      private

      # Which transaction saw it, and after how many writes.
      def state(reflection)
        reflection.chain.flat_map do |step, _|
          database = step.klass.database
          [Context[database], database.writes_to(step.klass.table_name)]
        end
      end

      def report(reflection, count)
        logger = AsyncRecord.log
        return unless logger&.debug?

        place = caller_locations.find { |frame| !frame.path.to_s.start_with?(LIBRARY) }
        logger.debug("AsyncRecord: #{reflection} was loaded for #{count} records at once, when the first of them " \
                     "asked for it (#{place}); preload(#{reflection.name.inspect}) would say so")
      end
    end
  end
end
