# frozen_string_literal: true

require_relative "json_text"

module Fastr
  # `render` and its relatives for controllers, in the words of 2010 and of today. It owns content types, status and
  # headers of what is rendered; finding and compiling templates is {TemplateStore}'s work.
  module Rendering
    # What the text of 2010 answers with; its JSON and templates do as today's.
    CLASSIC_TEXT = { "Content-Type" => "text/plain" }.freeze
    NO_OPTIONS = {}.freeze
    private_constant :CLASSIC_TEXT, :NO_OPTIONS

    # Renders.
    #
    # In the words of 2010 `render(kind, value, options)`: kinds :text, :json, :template, :partial (gives a String) and
    # a template engine's name (`render(:haml, :template => "index")`).
    # In the words of today `render text:`, `html:`, `json:`, `template:`, `partial:` (gives a String).
    # Options of both: :status (or :response_code), :headers, :vars (`@vars` in the template), :locals, :layout,
    # :cache_template.
    #
    # @param kind [Symbol, String, Hash] a String is the path of a template
    # @return [Array, SafeString] the Rack response; a partial's HTML
    # @example
    #   render(:template, "users/index.html.erb", :vars => { :greeting => "Aloha!" })
    #   render json: User.where(active: true), status: 201
    def render(kind, value = nil, options = nil)
      case kind
      when :text then render_typed(value.to_s, CLASSIC_TEXT, options || NO_OPTIONS)
      when :json then render_typed(fastr_json(value), Response::JSON_TYPE, options || NO_OPTIONS)
      when :template then render_template(value, options || NO_OPTIONS)
      else render_other(kind, value, options)
      end
    end

    # Answers with a status and no body.
    # @param status [Integer, Symbol]
    # @param headers [Hash]
    # @return [Array]
    def head(status, headers = {})
      fastr_respond_with([Status.code(status), fastr_merge(headers), []])
    end

    # Sends the client elsewhere.
    # @param target [String] a path or URL
    # @param status [Integer, Symbol] 302 by default
    # @return [Array]
    def redirect_to(target, status: 302)
      fastr_respond_with([Status.code(status), fastr_merge("Location" => target.to_s), []])
    end

    # Answers 404.
    # @param message [String, nil] the text; the path by default
    # @return [Array]
    def not_found(message = nil)
      fastr_respond_with([404, fastr_merge("Content-Type" => "text/plain"),
                          [message || "404 Not Found: #{request.path}"]])
    end

    # Answers in pieces, written by the block in this request's fiber; a write waits while the client is slow.
    # @param status [Integer, Symbol]
    # @param content_type [String]
    # @param headers [Hash]
    # @yieldparam out [Stream]
    # @return [Array]
    # @example
    #   stream { |out| 1000.times { |i| out << "#{i}\n" } }
    def stream(status: 200, content_type: "text/plain; charset=utf-8", headers: {}, &block)
      headers = fastr_merge({ "Content-Type" => content_type }.merge(headers))
      fastr_respond_with([Status.code(status), headers, StreamBody.new(&block)])
    end

    # Marks finished HTML, so that a template does not escape it.
    # @param html [#to_s]
    # @return [SafeString]
    def raw(html)
      SafeString.new(html.to_s)
    end

    # @return [SafeString] escaped HTML
    def escape(value)
      SafeString.new(SafeString.escape(value))
    end
    alias h escape

    private

    def render_other(kind, value, options)
      case kind
      when Hash then render_today(kind)
      when :html then render_typed(value.to_s, Response::HTML, options || NO_OPTIONS)
      when :partial then fastr_partial(value, options || NO_OPTIONS)
      when Symbol then render_with_engine(kind, value, options || NO_OPTIONS)
      else render_template(kind.to_str, value || NO_OPTIONS)
      end
    end

    def render_today(options)
      if options.key?(:json) then render_json(options[:json], options)
      elsif options.key?(:text) then render_typed(options[:text].to_s, Response::TEXT, options)
      elsif options.key?(:html) then render_typed(options[:html].to_s, Response::HTML, options)
      elsif options.key?(:template) then render_template(options[:template], options)
      elsif options.key?(:partial) then fastr_partial(options[:partial], options)
      else
        raise ArgumentError,
              "render what? Give text:, html:, json:, template: or partial:, not #{options.keys.inspect}"
      end
    end

    # `render(:haml, :template => "index")`, as in the June 2010 post.
    def render_with_engine(kind, value, options)
      options = value.merge(options) if value.is_a?(Hash)
      name = value.is_a?(Hash) ? value[:template] : value
      raise ArgumentError, "Unknown render type: #{kind.inspect}" unless name && Template.engine?(kind)

      render_template(name, options.merge(engine: kind))
    end

    # A String is finished JSON; a relation becomes JSON in Rust.
    def render_json(value, options)
      render_typed(value.is_a?(String) ? value : fastr_json(value), Response::JSON_TYPE, options)
    end

    def fastr_json(value)
      case value
      when Hash, Array then JSONText.generate(value)
      else value.respond_to?(:to_json_bytes) ? value.to_json_bytes : JSONText.generate(value)
      end
    end

    # Without headers of the action's own the frozen ones of the type are shared by all answers. As in 2010 the type
    # goes into `self.headers`, unless the action put one there.
    def render_typed(body, type, options)
      given = options[:headers] unless options.empty?
      if given || @headers
        own = headers
        own["Content-Type"] = type["Content-Type"] if own.empty? || !own.key?("content-type")
        given&.each { |name, value| own[name.to_s] = value }
        type = own
      end
      @fastr_rendered = [options.empty? ? 200 : fastr_status(options), type, [body]]
    end

    def render_template(path, options)
      html = fastr_evaluate(path, options)
      name = options.fetch(:layout) { self.class.layout || app&.settings&.layout }
      html = fastr_evaluate("layouts/#{name}", options) { html } if name
      render_typed(html, Response::HTML, options)
    end

    def fastr_partial(path, options)
      SafeString.new(fastr_evaluate(path, options))
    end

    # A partial's `@vars` end with it.
    def fastr_evaluate(path, options, &content)
      outer = @vars
      @vars = options[:vars] || outer || {}
      content &&= ->(*) { SafeString.new(yield) }
      cache = options[:cache_template]
      cache = app.settings.cache_templates if cache.nil?
      app.templates.render(path, self, options[:locals] || {}, engine: options[:engine], cache: cache, &content)
    ensure
      @vars = outer
    end

    def fastr_status(options)
      status = options[:status] || options[:response_code]
      status ? Status.code(status) : 200
    end

    def fastr_merge(extra)
      @headers ? @headers.merge(extra) : extra
    end

    def fastr_respond_with(triple)
      @fastr_rendered = triple
    end
  end

  # Statuses by name. It owns the translation; the names are Rack's.
  module Status
    # @param status [Integer, Symbol]
    # @return [Integer]
    def self.code(status)
      return status if status.is_a?(Integer)

      require "rack/utils"
      Rack::Utils.status_code(status)
    end
  end
  private_constant :Status
end
