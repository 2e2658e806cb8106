# frozen_string_literal: true

require "json"

module Fastr
  # Reads a request's body into values: forms, multipart forms and JSON. It owns the choice of parser by content type
  # and the reasons given for a 400; the bytes, their limit (413) and multipart itself are the request's.
  module Body
    module_function

    # What browsers send forms as.
    FORM = "application/x-www-form-urlencoded"
    # What browsers send forms with files as.
    MULTIPART = "multipart/form-data"
    # A body that comes as it is; reading a compressed one as if it were not would blame its content.
    PLAIN_CODINGS = [nil, "", "identity"].freeze
    # Levels of a JSON document; more is a 400.
    MAX_NESTING = 64

    # @param request [Request, RackRequest]
    # @return [Boolean] whether the request can have a body worth reading
    def expected?(request)
      return false if request.method == "GET" || request.method == "HEAD"

      request.content_length != 0
    end

    # @param request [Request, RackRequest]
    # @return [Hash{String => Object}] what the body says, nested; empty for other content types
    # @raise [RequestError] 400 with the reason; 415 for a compressed body
    def params(request)
      case kind(request)
      when :form then NestedParams.build(Native.parse_query(request.body))
      when :multipart then NestedParams.build(parts(request))
      when :json
        value = json(request)
        value.is_a?(Hash) ? value : {}
      else {}
      end
    end

    # @return [Hash{String => Object}] the same with names as they were sent (2010's `post_params`)
    def flat_params(request)
      case kind(request)
      when :form then NestedParams.flat(Native.parse_query(request.body))
      when :multipart then NestedParams.flat(parts(request))
      else params(request)
      end
    end

    # @return [Object] the parsed JSON document; an empty body is an empty Hash
    # @raise [RequestError] 400 with the reason
    def json(request)
      refuse_coding(request)
      text = request.body
      return {} if text.empty?

      text = text.dup.force_encoding(Encoding::UTF_8) unless text.encoding == Encoding::UTF_8
      raise RequestError, "the JSON body is not valid UTF-8" unless text.valid_encoding?

      JSON.parse(text, max_nesting: MAX_NESTING)
    rescue JSON::ParserError => e
      raise RequestError, "the JSON body cannot be read: #{e.message[/\A(?:\d+: )?(.{0,120})/, 1].strip}"
    end

    # 2010 took a body without a content type for a form.
    def kind(request)
      type = request.header("content-type").to_s.downcase
      kind = type.empty? ? :form : kind_of(type)
      refuse_coding(request) if kind
      kind
    end

    def kind_of(type)
      if type.start_with?(FORM) then :form
      elsif type.start_with?(MULTIPART) then :multipart
      elsif json_type?(type) then :json
      end
    end

    # RFC 9110, 15.5.16: the answer names what would have been read.
    def refuse_coding(request)
      coding = request.header("content-encoding")&.strip
      return if PLAIN_CODINGS.include?(coding&.downcase)

      raise RequestError.new("a body with content-encoding #{coding[0, 40].inspect} is not read here; send it " \
                             "uncompressed", 415)
    end

    def json_type?(type)
      name = type[0, type.index(";") || type.size].strip
      name == "application/json" || name.end_with?("+json")
    end

    def parts(request)
      request.parts.map do |name, filename, content_type, content, path|
        next [name, text(name, content || File.binread(path))] if filename.nil?

        [name, Upload.new(name: name, filename: filename, content_type: content_type, content: content, path: path)]
      end
    end

    def text(name, content)
      text = content.dup.force_encoding(Encoding::UTF_8)
      text.valid_encoding? ? text : raise(RequestError, "the field #{name[0, 40].inspect} is not valid UTF-8")
    end

    private_class_method :kind, :kind_of, :refuse_coding, :json_type?, :parts, :text
  end
  private_constant :Body
end
