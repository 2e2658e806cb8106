# frozen_string_literal: true

# Owns the walk over large tables in batches by primary key: each batch is a query of its own, no transaction stays
# open, and rows inserted meanwhile do not shift the walk. It waits between batches, so it runs in a fiber or a thread.

module AsyncRecord
  class Relation
    # Walks in batches.
    module Batches
      # @example
      #   User.where(active: true).find_each(batch: 500) { |user| user.touch }
      # @param batch [Integer] records per query
      # @yieldparam record [Base]
      # @return [self, Enumerator]
      def find_each(batch: 1000, start: nil, finish: nil, &block)
        return to_enum(:find_each, batch: batch, start: start, finish: finish) unless block

        find_in_batches(batch: batch, start: start, finish: finish) { |records| records.each(&block) }
      end

      # @yieldparam records [Array<Base>]
      # @return [self, Enumerator]
      def find_in_batches(batch: 1000, start: nil, finish: nil)
        return to_enum(:find_in_batches, batch: batch, start: start, finish: finish) unless block_given?

        key = model.primary_key
        walk(batch, start, finish) do |relation|
          records = relation.to_a
          yield records unless records.empty?
          records.size < batch ? nil : records.last[key]
        end
      end

      # Yields relations instead of records, for `update_all` and `delete_all` piece by piece.
      #
      # @yieldparam relation [Relation] that covers one batch
      # @return [self, Enumerator]
      def in_batches(of: 1000, start: nil, finish: nil)
        return to_enum(:in_batches, of: of, start: start, finish: finish) unless block_given?

        walk(of, start, finish) do |relation|
          keys = relation.ids
          yield keyed(keys) unless keys.empty?
          keys.size < of ? nil : keys.last
        end
      end

      private

      # @yieldreturn [Object, nil] the key to go on after; nil ends the walk
      def walk(size, start, finish)
        raise ArgumentError, "a batch has at least one record" unless size.positive?
        raise ArgumentError, "batches go by primary key; take the limit and offset away" if limit_value || offset_value

        key = model.primary_key
        base = reorder(key).limit(size).where(key => start..finish).waiting
        last = yield base
        last = yield base.where("#{qualified_key} > ?", last) until last.nil?
        self
      end

      def qualified_key
        database.dialect.qualify(model.table_name, model.primary_key)
      end

      def keyed(keys)
        without_order.where(model.primary_key => keys)
      end
    end
    private_constant :Batches
  end
end
