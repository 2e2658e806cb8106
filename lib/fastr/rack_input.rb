# frozen_string_literal: true

require "stringio"

module Fastr
  # `rack.input` of a native request: the body as an IO that waits in this fiber. It owns nothing until something is
  # read; then the whole body is fetched (Rust keeps its limit) and read from memory, so it can be rewound.
  class RackInput
    # @param request [Request]
    def initialize(request)
      @request = request
    end

    # @see StringIO#read
    def read(*arguments)
      io.read(*arguments)
    end

    # @return [String, nil]
    def gets(*arguments)
      io.gets(*arguments)
    end

    # @yieldparam line [String]
    def each(&block)
      io.each(&block)
      self
    end

    # @return [Integer]
    def rewind
      io.rewind
    end

    # @return [Integer]
    def size
      io.size
    end

    # @return [Boolean]
    def eof?
      io.eof?
    end

    # @return [nil]
    def close
      nil
    end

    # @return [self]
    def binmode
      self
    end

    # @return [Encoding]
    def external_encoding
      Encoding::BINARY
    end

    private

    def io
      @io ||= StringIO.new(@request.body).tap(&:binmode)
    end
  end
  private_constant :RackInput
end
