# frozen_string_literal: true

require_relative "json_text"

module Fastr
  # What an answer is made of, and how it leaves on the native path. It owns the meaning of the values an action may
  # return and the handling of every kind of Rack body; the socket is Rust's.
  module Response
    module_function

    # Headers of text, shared by all answers.
    TEXT = { "Content-Type" => "text/plain; charset=utf-8" }.freeze
    # Headers of a page.
    HTML = { "Content-Type" => "text/html; charset=utf-8" }.freeze
    # Headers of JSON.
    JSON_TYPE = { "Content-Type" => "application/json" }.freeze

    # @return [Boolean] whether the value is a Rack response
    def triple?(value)
      value.is_a?(Array) && value.size == 3 && value[0].is_a?(Integer)
    end

    # @param value [Array, #to_a, #finish] what a Rack application gave
    # @return [Array(Integer, Hash, #each)]
    def triple(value)
      return value if triple?(value)

      array = if value.respond_to?(:to_ary) then value.to_ary
              elsif value.respond_to?(:finish) then value.finish
              elsif value.respond_to?(:to_a) then value.to_a
              end
      return [array[0].to_i, array[1], array[2]] if array.is_a?(Array) && array.size == 3 && array[0].respond_to?(:to_i)

      raise ResponseError, "a Rack response is [status, headers, body], not #{value.class}"
    end

    # @param value [Object] what an action returned
    # @return [Array, nil] the triple it stands for; nil when it stands for none
    def coerce(value)
      case value
      when String then [200, TEXT, [value]]
      when Array then triple?(value) ? value : [200, JSON_TYPE, [JSONText.generate(value)]]
      when Hash then [200, JSON_TYPE, [JSONText.generate(value)]]
      else
        return [200, JSON_TYPE, [value.to_json_bytes]] if value.respond_to?(:to_json_bytes)
        return [200, HTML, [value.call.to_s]] if value.respond_to?(:view_template)

        value.respond_to?(:finish) ? triple(value) : nil
      end
    end

    # @param chunks [Array<String>]
    # @return [String] the whole; binary where the chunks' encodings differ
    def join(chunks)
      return chunks[0] if chunks.size == 1

      chunks.join
    rescue Encoding::CompatibilityError
      chunks.map(&:b).join
    end

    # Sends a response on the native path.
    # @param request [Request]
    # @param status [Integer] -1 sends nothing: the answer comes later
    # @param headers [Hash{String => String, Array<String>}]
    # @param body [Array, #each, #call, String]
    # @return [void]
    def deliver(request, status, headers, body)
      return if status == -1
      return request.respond(status, headers, body[0]) if body.instance_of?(Array) && body.size == 1

      deliver_body(request, status, headers, body)
    end

    def deliver_body(request, status, headers, body)
      case body
      when nil then request.respond(status, headers, "")
      when String then request.respond(status, headers, body)
      when Array then request.respond(status, headers, join(body))
      else BodyWriter.new(request, status, headers, body).run
      end
    end

    private_class_method :deliver_body
  end
  private_constant :Response
end
