# frozen_string_literal: true

module Fastr
  # The writing end of a streamed answer: what `stream do |out|` yields and Rack 3's callable bodies get. It owns
  # back-pressure: a write waits while the client is too slow, so memory stays bounded.
  class Stream
    # Bytes that may be queued before a write waits for the client.
    HIGH_WATER = 64 * 1024

    # @param request [Request] an answer that was started
    def initialize(request)
      @request = request
    end

    # @param chunk [String]
    # @return [Integer] bytes taken
    # @raise [DisconnectedError] the client has left
    def write(chunk)
      return 0 if chunk.empty?

      Completion.await { |sink| @request.drain(sink) } if @request.write(chunk) > HIGH_WATER
      chunk.bytesize
    end

    # @param chunk [String]
    # @return [self]
    def <<(chunk)
      write(chunk.to_s)
      self
    end

    # Chunks leave at once; there is nothing to flush.
    # @return [self]
    def flush
      self
    end

    # @return [Boolean] whether the client has left
    def closed?
      !@request.open?
    end

    # Rack 3 calls it at the end; the framework finishes the answer itself.
    # @return [nil]
    def close(_error = nil)
      nil
    end
  end

  # A body whose chunks come from a block; serves both paths, as a native stream and as a Rack body.
  class StreamBody
    # @yieldparam out [Stream, #<<]
    def initialize(&block)
      @block = block
    end

    # Runs the block with a stream of the server (Rack 3).
    # @param stream [#write]
    def call(stream)
      @block.call(stream)
    end

    # Runs the block and passes on what it writes (Rack 2).
    # @yieldparam chunk [String]
    def each(&sink)
      @block.call(Collector.new(sink))
    end

    # Passes each write on to a block.
    class Collector
      # @param sink [Proc]
      def initialize(sink)
        @sink = sink
      end

      # @return [Integer] bytes taken
      def write(chunk)
        @sink.call(chunk)
        chunk.bytesize
      end

      # @return [self]
      def <<(chunk)
        write(chunk.to_s)
        self
      end

      # @return [self]
      def flush
        self
      end

      # @return [Boolean]
      def closed?
        false
      end
    end
    private_constant :Collector
  end
  private_constant :StreamBody
end
