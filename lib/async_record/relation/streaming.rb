# frozen_string_literal: true

# Owns the terminal methods that take a result in batches while its statement runs. They wait between batches, so they
# run in a fiber or a thread; how a stream is read is in Database.

module AsyncRecord
  class Relation
    # Streams records and JSON.
    module Streaming
      # Bytes that may be queued for a client before the database waits for it.
      HIGH_WATER = 64 * 1024
      private_constant :HIGH_WATER

      # Yields the records while they arrive: memory holds a few batches, however many there are. The order is the
      # relation's, unlike {Batches#find_each}'s, and the connection is kept until the end. Preloads are not done.
      #
      # @example
      #   Event.where(day: day).order(:at).stream { |event| file.puts event.line }
      # @param batch [Integer] rows fetched at once
      # @yieldparam record [Base]
      # @return [Integer, Enumerator] how many there were
      def stream(batch: 500, &block)
        return to_enum(:stream, batch: batch) unless block
        return 0 if @none

        stream_batches(batch) { |rows| model.instantiate_all(rows).each(&block) }
      end

      # Sends the rows as a JSON array while they arrive, made in Rust as {Output#to_json_bytes} makes it. The database
      # waits for a slow client, and stops when the client leaves.
      #
      # @example
      #   get("/posts") { stream(content_type: "application/json") { |out| Post.recent.stream_json(out) } }
      #   get("/later") { defer_response { |response| Post.recent.stream_json(response) } }
      # @param out [#<<, Fastr::DeferredResponse] a deferred response is ended, too
      # @param batch [Integer] rows fetched at once
      # @return [Integer] how many there were
      def stream_json(out, batch: 500)
        send = out.respond_to?(:send_data) ? deferred(out) : ->(text) { out << text }
        lead = "["
        json = reads_itself? ? method(:json_of) : :to_json_bytes.to_proc
        count = @none ? 0 : stream_batches(batch) { |rows| lead = send_rows(send, lead, json.call(rows)) }
        send.call(count.zero? ? "[]" : "]")
        out.succeed if out.respond_to?(:send_data)
        count
      end

      private

      def stream_batches(batch, &block)
        return AsyncRecord.using_primary { open_batches(batch, &block) } if @primary

        open_batches(batch, &block)
      end

      def open_batches(batch, &block)
        statement = select_statement
        database.each_batch(statement.sql, statement.binds, batch: batch, transaction: @transaction,
                                                            timeout: @timeout_value, &block)
      end

      # @return [String] what stands before the next batch
      def send_rows(send, lead, json)
        send.call("#{lead}#{json[1..-2]}")
        ","
      end

      def deferred(response)
        lambda do |text|
          raise Fastr::DisconnectedError, "the client closed its connection" unless response.open?

          response.drain if response.send_data(text) > HIGH_WATER
        end
      end
    end
    private_constant :Streaming
  end
end
