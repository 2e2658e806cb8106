# frozen_string_literal: true

# Owns the terminal methods that change many rows in one statement, without records, validations or callbacks.

module AsyncRecord
  class Relation
    # Changes rows in bulk.
    module Writes
      # @example
      #   User.where(active: false).update_all(state: "gone", tries: AsyncRecord.sql("tries + 1"))
      # @param changes [Hash{Symbol, String => Object}]
      # @return [Integer, Pending] how many rows changed
      def update_all(changes, &block)
        unless changes.is_a?(Hash)
          raise UnsafeSql, "update_all takes a Hash of columns; SQL on the right side is marked with AsyncRecord.sql"
        end

        perform(block) { @none || changes.empty? ? 0 : affected(writer.update(changes, self).statement) }
      end

      # @return [Integer, Pending] how many rows are gone
      def delete_all(&block)
        perform(block) { @none ? 0 : affected(writer.delete(self).statement) }
      end

      # Deletes record after record, with callbacks; waits.
      # @return [Array<Base>, Pending]
      def destroy_all(&block)
        perform(block) { waiting.to_a.each { |record| record.destroy(using: transaction) } }
      end

      # Deletes the rows of a condition, without callbacks.
      # @return [Integer, Pending]
      def delete_by(condition = nil, *binds, **named, &block)
        where(condition, *binds, **named).delete_all(&block)
      end

      # Deletes the records of a condition, with callbacks.
      # @return [Array<Base>, Pending]
      def destroy_by(condition = nil, *binds, **named, &block)
        where(condition, *binds, **named).destroy_all(&block)
      end

      # Adds to columns, in the database: two who add at once lose nothing.
      #
      # @example
      #   Post.where(id: 1).update_counters(views: 1, likes: -1)
      # @param amounts [Hash{Symbol, String => Numeric}]
      # @param touch [Boolean] whether `updated_at` is set too
      # @return [Integer, Pending]
      def update_counters(amounts = {}, touch: false, **more, &block)
        changes = amounts.merge(more).to_h do |column, amount|
          raise ArgumentError, "#{column} can grow by a number, not by #{amount.inspect}" unless amount.is_a?(Numeric)

          name = column_name(column, "update_counters")
          name = database.dialect.quote(model.table && model.table[name]&.name || name)
          [column, Sql.new("COALESCE(#{name}, 0) + ?", [amount])]
        end
        update_all(touch ? changes.merge(stamps_of(:update)) : changes, &block)
      end
      alias increment update_counters

      # Sets `updated_at`, and the given columns, to now.
      # @return [Integer, Pending]
      def touch_all(*names, time: nil, &block)
        time ||= Time.now
        update_all(stamps_of(:update, time).merge(names.to_h { |name| [name.to_s, time] }), &block)
      end

      # Inserts rows and skips those that a unique index refuses.
      #
      # @param rows [Array<Hash>] all with the same columns
      # @param unique_by [Symbol, Array, nil] the columns of the unique index meant; nil for any
      # @param returning [Symbol, Array, nil] columns to return; not on MySQL, but on MariaDB
      # @return [Integer, Array, Pending] how many rows are new (MySQL counts the skipped ones too); with `returning:` a
      #   value or an Array per new row
      def insert_all(rows, unique_by: nil, returning: nil, &block)
        perform(block) { insert_rows(rows, { conflict: names_of(unique_by), updates: nil }, returning, unique_by) }
      end

      # Inserts rows; a unique index that refuses one refuses all.
      #
      # @return [Integer, Array, Pending] see {#insert_all}
      # @raise [UniqueViolation]
      def insert_all!(rows, returning: nil, &block)
        perform(block) { insert_rows(rows, nil, returning) }
      end

      # Inserts rows, and overwrites those that a unique index has already.
      #
      # @example
      #   Post.upsert_all([{ slug: "a", title: "A" }], unique_by: :slug, returning: :id)
      #   Hit.upsert_all(rows, unique_by: :path, update_only: AsyncRecord.sql("count = hits.count + 1"))
      # @param unique_by [Symbol, Array, nil] the columns of the unique index; nil is the primary key
      # @param update_only [Symbol, Array, Sql, nil] columns to overwrite, or SQL; nil means all given ones
      # @return [Integer, Array, Pending] see {#insert_all}
      def upsert_all(rows, unique_by: nil, update: nil, update_only: update, returning: nil, &block)
        perform(block) do
          conflict = names_of(unique_by || model.key_columns)
          updates = update_only ? written(update_only) : updatable(rows, conflict)
          insert_rows(rows, { conflict: conflict, updates: updates }, returning, unique_by)
        end
      end

      # {#upsert_all} for one row.
      # @return [Integer, Array, Pending]
      def upsert(row, **options, &block)
        upsert_all([row], **options, &block)
      end

      private

      def writer
        Compiler::Write.new(compiler, model)
      end

      def affected(statement)
        result = run(statement)
        result.is_a?(Array) ? result.first : result.size
      end

      def names_of(columns)
        [*columns].map { |column| column_name(column, "unique_by").to_s }
      end

      def written(updates)
        updates.is_a?(Sql) ? updates : names_of(updates)
      end

      def stamps_of(action, time = Time.now)
        model.timestamp_columns(action).to_h { |name| [name, time] }
      end

      # The creation time stays; everything else that was given is overwritten.
      def updatable(rows, conflict)
        columns = rows.empty? ? [] : columns_of(stamped(rows.first))
        columns - conflict - ["created_at"]
      end

      def insert_rows(rows, upsert, returning, unique_by = nil)
        return returning ? [] : 0 if rows.empty? || @none

        columns = columns_of(stamped(rows.first))
        check_server(columns, unique_by, returning)
        values = rows.map { |row| values_of(row, columns) }
        slices = values.each_slice([database.dialect.max_binds / [columns.size, 1].max, 1].max).to_a
        results = together(slices.size) do |tx|
          slices.map { |slice| insert_slice(columns, slice, upsert, returning, tx) }
        end
        returning ? results.flatten(1) : results.sum
      end

      # What only some servers of a kind can do is found out before anything is written.
      def check_server(columns, unique_by, returning)
        dialect = database.dialect
        database.check_returning if returning && !dialect.returning?
        return if unique_by.nil? || dialect.conflict_target?

        database.check_unique_index(model.table!, names_of(unique_by), columns)
      end

      # What needs several statements happens entirely or not at all.
      def together(count, &block)
        return yield @transaction if count == 1

        Transaction.run(database, within: @transaction, &block)
      end

      def insert_slice(columns, values, upsert, returning, transaction)
        names = returning && names_of(returning)
        statement = writer.insert(columns, values, upsert: upsert, returning: names).statement
        return with(:@transaction, transaction).affected_by(statement) unless names

        rows = with(:@transaction, transaction).rows_of(statement)
        values = Array.new(rows.size) { |index| cast_row(names, rows.row(index)) }
        names.one? && !returning.is_a?(Array) ? values.map(&:first) : values
      end

      # What an expression or a RETURNING clause yields has lost its declared type in some databases.
      def cast_row(names, values)
        names.zip(values).map do |name, value|
          column = model.table && model.table[name]
          column ? Type.load(column.kind, Type.cast(column.stored_kind, value)) : value
        end
      end

      def columns_of(row)
        row.keys.map(&:to_s)
      end

      def values_of(row, columns)
        row = stamped(row).transform_keys(&:to_s)
        return row.values_at(*columns) if row.size == columns.size && columns.all? { |column| row.key?(column) }

        raise ArgumentError, "every row needs the same columns (#{columns.join(', ')}); one has #{row.keys.join(', ')}"
      end

      def stamped(row)
        stamps = model.timestamp_columns(:create).reject { |name| row.key?(name) || row.key?(name.to_sym) }
        stamps.empty? ? row : row.merge(stamps.to_h { |name| [name, Time.now] })
      end

      protected

      def affected_by(statement)
        affected(statement)
      end

      def rows_of(statement)
        run(statement)
      end
    end
    private_constant :Writes
  end
end
