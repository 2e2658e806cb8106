# frozen_string_literal: true

require "json"

module Fastr
  # What a client gets to see of an error. It owns statuses and the plain answers of production; the page of development
  # is {ErrorPage}'s. A backtrace never leaves the server.
  module ErrorResponse
    # Statuses of errors that are not the framework's own, by class name: async_record need not be loaded.
    STATUSES = { "AsyncRecord::RecordNotFound" => 404, "AsyncRecord::RecordInvalid" => 422,
                 "AsyncRecord::PoolTimeout" => 503 }.freeze
    # Reason phrases (RFC 9110, section 15).
    REASONS = {
      400 => "Bad Request", 404 => "Not Found", 405 => "Method Not Allowed", 408 => "Request Timeout",
      413 => "Content Too Large", 415 => "Unsupported Media Type", 422 => "Unprocessable Content",
      431 => "Request Header Fields Too Large", 500 => "Internal Server Error", 503 => "Service Unavailable"
    }.freeze

    module_function

    # @param error [Exception]
    # @return [Integer]
    def status(error)
      case error
      when RequestError then error.status
      when RouteNotFound then 404
      when MethodNotAllowed then 405
      else
        name = error.class.ancestors.map(&:name).find { |ancestor| STATUSES.key?(ancestor) }
        STATUSES.fetch(name, 500)
      end
    end

    # @param error [Exception]
    # @param request [Request, RackRequest]
    # @return [Array] the Rack response
    def for(error, request)
      status = status(error)
      return ErrorPage.render(error, request) if status >= 500 && status != 503 && Fastr.development?

      plain(request, status, detail(error), extra_headers(error, status))
    end

    # @param request [Request, RackRequest]
    # @param app [Application, nil] whose own `not_found` answers first
    # @return [Array]
    def not_found(request, app = nil)
      own = app&.answer_not_found(request)
      return own if own

      plain(request, 404, wants_json?(request) ? nil : nowhere(request, app))
    end

    # @param allowed [Array<String>]
    # @return [Array] 405, or 204 to OPTIONS
    def method_not_allowed(request, allowed)
      return [204, { "Allow" => allowed.join(", ") }, []] if request.method == "OPTIONS"

      plain(request, 405, nil, "Allow" => allowed.join(", "))
    end

    # @return [Boolean] whether the client asks for JSON rather than a page
    def wants_json?(request)
      accept = request.header("accept").to_s
      accept.include?("json") && !accept.include?("text/html")
    end

    # RFC 9457 for clients that ask for JSON, a page for browsers, a line of text for the others.
    def plain(request, status, detail = nil, headers = {})
      reason = REASONS.fetch(status, "Error")
      if wants_json?(request)
        problem = { title: reason, status: status, detail: detail }.compact
        return [status, { "Content-Type" => "application/problem+json" }.merge(headers), [JSON.generate(problem)]]
      end

      text = detail ? "#{status} #{reason}: #{detail}" : "#{status} #{reason}"
      return [status, Response::TEXT.merge(headers), [text]] unless request.header("accept").to_s.include?("text/html")

      [status, Response::HTML.merge("Vary" => "Accept").merge(headers), [Native.status_page(readable(text))]]
    end

    # What a client sent may be no text at all.
    def readable(text)
      String.new(text, encoding: Encoding::UTF_8).scrub
    end

    # The path; a person who develops at a browser also sees where routes lead.
    def nowhere(request, app)
      return request.path unless app && Fastr.development? && request.header("accept").to_s.include?("text/html")

      "#{request.path}\n\nThe routes:\n#{RouteListing.new(app.router.routes)}"
    end

    # Texts of errors that are about the request itself are safe to show; in development the others help.
    def detail(error)
      error.is_a?(RequestError) || Fastr.development? ? error.message : nil
    end

    def extra_headers(error, status)
      return { "Allow" => error.allowed.join(", ") } if error.is_a?(MethodNotAllowed)

      return {} unless status == 503

      { "Retry-After" => (error.respond_to?(:retry_after) ? error.retry_after : 1).to_s }
    end

    private_class_method :plain, :nowhere, :readable, :detail, :extra_headers
  end
  private_constant :ErrorResponse
end
