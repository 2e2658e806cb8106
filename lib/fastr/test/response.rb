# frozen_string_literal: true

require "json"

module Fastr
  module Test
    # A complete answer, as a test reads it.
    class Response
      # @return [Integer]
      attr_reader :status
      # @return [Hash{String => String, Array<String>}] as the application gave them
      attr_reader :headers
      # @return [String]
      attr_reader :body

      # @param status [Integer]
      # @param headers [Hash]
      # @param body [String]
      def initialize(status, headers, body)
        @status = status
        @headers = headers
        @body = body
      end

      # @param name [String] in any case
      # @return [String, Array<String>, nil]
      def [](name)
        @headers.find { |key, _| key.casecmp?(name) }&.last
      end

      # @return [Object] the body as JSON
      def json
        JSON.parse(@body)
      end

      # @return [Boolean] whether the status is 2xx
      def ok?
        @status.between?(200, 299)
      end

      # @return [Boolean] whether the status is 3xx
      def redirect?
        @status.between?(300, 399)
      end

      # @return [Array<String>] the lines of Set-Cookie
      def set_cookies
        value = self["set-cookie"]
        value.is_a?(Array) ? value : value.to_s.split("\n")
      end
    end
  end
end
