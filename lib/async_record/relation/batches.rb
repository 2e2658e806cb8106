# frozen_string_literal: true

# Owns the walk over large tables in batches: each batch is a query of its own, no transaction stays open, and rows
# inserted meanwhile do not shift the walk, because it goes on after the last key it has seen. It goes by the primary
# key, of one column or several, or by a cursor of other columns. It waits between batches, so it runs in a fiber or a
# thread.

module AsyncRecord
  class Relation
    # Walks in batches.
    module Batches
      # @example
      #   User.where(active: true).find_each(batch: 500) { |user| user.touch }
      #   Event.find_each(cursor: :happened_at, order: :desc) { |event| … }
      # @param batch [Integer] records per query; also `batch_size:`
      # @param start [Object, nil] the key to begin with
      # @param finish [Object, nil] the key to end with
      # @param order [Symbol] :asc or :desc
      # @param cursor [Symbol, Array<Symbol>, nil] columns to walk by instead of the key, none of which may be NULL
      # @yieldparam record [Base]
      # @return [self, Enumerator]
      def find_each(**options, &block)
        return to_enum(:find_each, **options) unless block

        find_in_batches(**options) { |records| records.each(&block) }
      end

      # @yieldparam records [Array<Base>]
      # @return [self, Enumerator] see {#find_each}
      def find_in_batches(batch: 1000, batch_size: batch, start: nil, finish: nil, order: :asc, cursor: nil)
        unless block_given?
          return to_enum(:find_in_batches, batch: batch_size, start: start, finish: finish, order: order,
                                           cursor: cursor)
        end

        terms = walk_terms(cursor, order)
        walk(terms, batch_size, start, finish) do |relation|
          records = relation.to_a
          yield records unless records.empty?
          records.size < batch_size ? nil : terms.map { |column, _| records.last[column] }
        end
      end

      # Yields relations instead of records, for `update_all` and `delete_all` piece by piece.
      #
      # @yieldparam relation [Relation] that covers one batch
      # @return [self, Enumerator]
      def in_batches(of: 1000, start: nil, finish: nil, order: :asc)
        return to_enum(:in_batches, of: of, start: start, finish: finish, order: order) unless block_given?

        walk(walk_terms(nil, order), of, start, finish) do |relation|
          keys = relation.ids
          yield without_order.where(model.keys_condition(keys)) unless keys.empty?
          keys.size < of ? nil : Array(keys.last)
        end
      end

      private

      # @yieldreturn [Array, nil] the values to go on after; nil ends the walk
      def walk(terms, size, start, finish)
        raise ArgumentError, "a batch has at least one record" unless size.positive?
        raise ArgumentError, "batches go by key; take the limit and offset away" if limit_value || offset_value

        base = reorder(terms.to_h).limit(size).waiting
        base = base.beyond(terms, start) unless start.nil?
        base = base.beyond(backwards(terms), finish) unless finish.nil?
        last = yield base
        last = yield base.beyond(terms, last, inclusive: false) until last.nil?
        self
      end

      # The key comes last, so that no two rows are equal.
      def walk_terms(cursor, order)
        direction = direction(order)
        keys = model.key_columns
        columns = Array(cursor).map { |column| column_name(column, "find_each").to_s }
        columns.each { |column| refuse_null(column) unless keys.include?(column) }
        (columns + keys).uniq.map { |column| [column, direction] }
      end

      def refuse_null(column)
        return unless model.table && model.table[column]&.null?

        raise ArgumentError, "#{model.table_name}.#{column} may be NULL: the walk would miss rows; " \
                             "walk by another column, or by the key"
      end

      def backwards(terms)
        terms.map { |column, direction| [column, direction == :asc ? :desc : :asc] }
      end

      protected

      # The rows from a key on; of a composite one the first values are enough.
      def beyond(terms, values, inclusive: true)
        values = Array(values)
        with(:@conditions,
             [*conditions, Condition::Beyond.new(terms.first(values.size), values, inclusive: inclusive)].freeze)
      end
    end
    private_constant :Batches
  end
end
