# frozen_string_literal: true

# Owns what subscribers are told. Refuses to compute what nobody reads: names are made when asked for.

module AsyncRecord
  # One statement that was run.
  #
  # `duration_ms` is the wall time from handing the statement over until its result is back. It is the sum of `queue_ms`
  # (waiting for a connection), `db_ms` (the database), `decode_ms` (making rows of its answer, in Rust) and `ruby_ms`
  # (waiting for the Ruby thread, which may have had other work).
  class Event
    # @return [String]
    attr_reader :sql
    # @return [Array] as {AsyncRecord.filter_binds} shows them
    attr_reader :binds
    # @return [Float]
    attr_reader :duration_ms
    # @return [Integer, nil] read or changed; nil for JSON, which is not counted
    attr_reader :rows
    # @return [StandardError, nil]
    attr_reader :error
    # @return [Database]
    attr_reader :database
    # @return [Integer, nil] the driver's id of the transaction
    attr_reader :transaction_id
    # @return [Integer, nil] of the request that the statement was run for
    attr_reader :request_id
    # @return [String, nil] the program's line that asked
    attr_reader :caller_line

    # @api private
    def initialize(sql:, binds:, duration_ms:, rows:, error:, database:, timings:, transaction_id:, request_id:,
                   caller_line:)
      @sql = sql
      @binds = binds
      @duration_ms = duration_ms
      @rows = rows
      @error = error
      @database = database
      @timings = timings
      @transaction_id = transaction_id
      @request_id = request_id
      @caller_line = caller_line
    end

    # @return [Boolean]
    def failed?
      !@error.nil?
    end

    # @return [Float] milliseconds that it waited for a connection; 0.0 where the driver does not tell
    def queue_ms
      @timings&.queue_ms || 0.0
    end

    # @return [Float] milliseconds that the database worked; where the driver does not tell, all of {#duration_ms}
    def db_ms
      @timings&.db_ms || duration_ms
    end

    # @return [Float] milliseconds for making rows of the answer; 0.0 where the driver does not tell
    def decode_ms
      @timings&.decode_ms || 0.0
    end

    # @return [Float] the rest
    def ruby_ms
      [duration_ms - queue_ms - db_ms - decode_ms, 0.0].max
    end

    # @return [Boolean] whether the database had the statement prepared already
    def cached_statement?
      @timings&.cached_statement? || false
    end
    alias cached_statement cached_statement?

    # @return [String] "User Load", "User Create"; "SQL" where no model's table is meant
    def name
      @name ||= Naming.name_of(sql)
    end

    # @return [String]
    def inspect
      "#<#{self.class} #{name} #{duration_ms.round(1)} ms #{sql}>"
    end

    # What a statement is called in logs.
    module Naming
      PATTERN = /\A\s*(?:select\b.*?\bfrom|insert\s+into|update|delete\s+from)\s+["`]?([^"`\s]+)/im
      VERBS = { "select" => "Load", "insert" => "Create", "update" => "Update", "delete" => "Destroy" }.freeze
      AGGREGATE = /\A\s*select\s+(count|sum|avg|min|max)\s*\(/i
      private_constant :PATTERN, :VERBS, :AGGREGATE

      class << self
        # @return [String]
        def name_of(sql)
          found = PATTERN.match(sql)
          model = found && model_of(found[1])
          return "SQL" unless model

          verb = sql[AGGREGATE, 1]&.capitalize || VERBS[sql[/\w+/].downcase]
          "#{model} #{verb}"
        end

        private

        # The class that was defined first, should several share a table.
        def model_of(table, among = Base.subclasses.reverse)
          among.each do |model|
            return model.name if current?(model) && model.table_name == table

            found = model_of(table, model.subclasses.reverse)
            return found if found
          end
          nil
        end

        # Reloading leaves classes behind that no name leads to.
        def current?(model)
          model.name && !model.abstract_class && Object.const_get(model.name).equal?(model)
        rescue NameError
          false
        end
      end
    end
    private_constant :Naming
  end

  # One transaction that has ended.
  class TransactionEvent
    # @return [Integer] the driver's id
    attr_reader :id
    # @return [Symbol] :committed or :rolled_back
    attr_reader :outcome
    # @return [String, nil] why it was ended, where its own code did not do it
    attr_reader :reason
    # @return [Float]
    attr_reader :duration_ms
    # @return [String, nil] the line that opened it
    attr_reader :caller_line
    # @return [Database]
    attr_reader :database
    # @return [Integer, nil]
    attr_reader :request_id

    # @api private
    def initialize(id:, outcome:, reason:, duration_ms:, caller_line:, database:, request_id:)
      @id = id
      @outcome = outcome
      @reason = reason
      @duration_ms = duration_ms
      @caller_line = caller_line
      @database = database
      @request_id = request_id
    end
  end
end
