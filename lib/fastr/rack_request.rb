# frozen_string_literal: true

module Fastr
  # A Rack env with the readers of {Request}, so that one controller layer serves both paths. It owns the names'
  # translation; it answers nothing, the caller of `dispatch` does.
  class RackRequest
    # @return [Hash] the Rack env
    attr_reader :env

    # @param env [Hash] the Rack env
    def initialize(env)
      @env = env
    end

    # @return [Integer, nil] the id of the native request below, if this server made the env
    def id
      env["fastr.request"]&.id
    end

    # @return [String] the method, upper case
    def method
      env["REQUEST_METHOD"] || "GET"
    end

    # @return [String] the path, still percent-encoded
    def path
      env["PATH_INFO"].to_s
    end

    # @return [String] without the question mark
    def query_string
      env["QUERY_STRING"].to_s
    end

    # @return [String]
    def scheme
      env["rack.url_scheme"] || "http"
    end

    # @return [String, nil] host and port as the client named them
    def host
      env["HTTP_HOST"] || env["SERVER_NAME"]
    end

    # @return [String, nil]
    def remote_addr
      env["REMOTE_ADDR"]
    end

    # @return [String, nil]
    def http_version
      env["SERVER_PROTOCOL"]
    end

    # @param name [String] lower case, with dashes
    # @return [String, nil]
    def header(name)
      case name
      when "content-type" then env["CONTENT_TYPE"]
      when "content-length" then env["CONTENT_LENGTH"]
      else env["HTTP_#{name.tr('-', '_').upcase}"]
      end
    end

    # @return [Hash{String => String}] lower-case names with dashes
    def headers
      env.each_with_object({}) do |(key, value), found|
        found[key.delete_prefix("HTTP_").tr("_", "-").downcase] = value if key.start_with?("HTTP_")
      end.merge({ "content-type" => header("content-type"), "content-length" => header("content-length") }.compact)
    end

    # @return [Integer, nil]
    def content_length
      env["CONTENT_LENGTH"]&.to_i
    end

    # @return [String] the whole body, read once
    def body
      @body ||= env["rack.input"]&.read || ""
    end

    # @return [Array<Array>] the parts of a multipart body, as {Request#parts} gives them
    def parts
      require "rack"
      @parts ||= flatten(Rack::Multipart.parse_multipart(env, PairCollector) || [])
    rescue EOFError, *multipart_errors => e
      raise RequestError, "the multipart body cannot be read: #{e.message}"
    end

    # @return [#call, nil] how to answer later
    def async_callback
      env["async.callback"]
    end

    # @return [Boolean]
    def open?
      true
    end

    private

    # Their names differ between Rack 2 and 3.
    def multipart_errors
      Rack::Multipart.constants.map { |name| Rack::Multipart.const_get(name) }
                     .select { |constant| constant.is_a?(Class) && constant <= StandardError }
    end

    def flatten(pairs)
      pairs.map do |name, value|
        next [name, nil, nil, value, nil] unless value.is_a?(Hash)

        file = value[:tempfile]
        [name, value[:filename], value[:type], file.read.tap { file.close! }, nil]
      end
    end

    # Keeps Rack's multipart parser from nesting names: that is {NestedParams}' work.
    module PairCollector
      extend self # rubocop:disable Style/ModuleFunction -- Rack calls the collection and the module alike

      # @return [Array] the collection Rack fills
      def make_params
        [].extend(PairCollector)
      end

      # Rack's hook for one part.
      def normalize_params(pairs, name, value, _depth = nil)
        pairs << [name, value]
      end

      # @return [nil] names are not nested here
      def param_depth_limit
        nil
      end

      # @return [Array] the finished collection
      def to_params_hash
        self
      end
    end
    private_constant :PairCollector
  end
end
