# frozen_string_literal: true

# Owns the judgement of what a caller may name: a Symbol, a plain column name, "table.column", "column desc", or text
# marked as trusted. Everything else is refused here, before any SQL exists.

module AsyncRecord
  class Relation
    # Reads names and directions.
    module Names
      COLUMN = /\A[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?\z/
      ORDER = /\A(?<column>[a-z_]\w*(?:\.[a-z_]\w*)?)(?:\s+(?<direction>asc|desc))?
        (?:\s+nulls\s+(?<nulls>first|last))?\z/ix
      DIRECTIONS = { asc: :asc, desc: :desc, "asc" => :asc, "desc" => :desc, ASC: :asc, DESC: :desc, "ASC" => :asc,
                     "DESC" => :desc }.freeze
      private_constant :COLUMN, :ORDER, :DIRECTIONS

      private

      # @return [Symbol, String, Sql] frozen
      def column_name(name, method)
        case name
        when Symbol, Sql then name
        when String
          COLUMN.match?(name) ? -name : unsafe(name, method)
        else raise ArgumentError, "#{method} takes column names or AsyncRecord.sql, not a #{name.class}"
        end
      end

      # @return [Array<Symbol, String, Sql>] names alone, which most lists are, need no look at each
      def column_names(names, method)
        return names if names.all?(Symbol)

        names.flatten.map { |name| column_name(name, method) }
      end

      def order_terms(terms)
        return order_term(terms.first) if terms.size == 1 && !terms.first.is_a?(Array)

        terms.flatten.flat_map { |term| order_term(term) }
      end

      def order_term(term)
        case term
        when Hash then directed(term)
        when Sql then [[term, nil, nil].freeze]
        when Symbol then [[term, :asc, nil].freeze]
        when COLUMN then [[-term, :asc, nil].freeze]
        when String then term.split(",").map { |part| order_text(part.strip, term) }
        else raise ArgumentError, "order takes names, a Hash or AsyncRecord.sql, not a #{term.class}"
        end
      end

      def order_text(part, whole)
        match = ORDER.match(part) || unsafe(whole, "order")
        direction = DIRECTIONS.fetch((match[:direction] || "asc").downcase)
        [-match[:column], direction, match[:nulls]&.downcase&.to_sym].freeze
      end

      def directed(directions)
        directions.map do |column, direction|
          direction, nulls = full_direction(direction) if direction.is_a?(Hash)
          [column_name(column, "order"), direction(direction), nulls].freeze
        end
      end

      # { desc: true, nulls: :last }
      def full_direction(options)
        nulls = options[:nulls]&.to_sym
        raise ArgumentError, "nulls: is :first or :last" unless [nil, :first, :last].include?(nulls)

        [options[:direction] || (options[:desc] ? :desc : :asc), nulls]
      end

      def direction(value)
        DIRECTIONS[value] || raise(ArgumentError, "a direction is :asc or :desc, not #{value.inspect}")
      end

      def reverse_term((column, direction, nulls))
        raise ArgumentError, "reverse_order cannot turn #{column.inspect} around" if direction.nil?

        flipped = { first: :last, last: :first }[nulls]
        [column, direction == :asc ? :desc : :asc, flipped].freeze
      end

      def non_negative(count, name)
        number = count.is_a?(String) ? Integer(count, 10) : Integer(count)
        raise ArgumentError, "#{name} cannot be negative" if number.negative?

        number
      end

      def unsafe(text, method)
        raise UnsafeSql, "#{method} takes column names; #{text.inspect} is none. If it is SQL that you wrote " \
                         "yourself, say so: #{method}(AsyncRecord.sql(#{text.inspect}))"
      end
    end
    private_constant :Names
  end
end
