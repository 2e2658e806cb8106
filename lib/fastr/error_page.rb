# frozen_string_literal: true

require "json"

module Fastr
  # The answer to an error in development: message, the lines of source around it, the way there. It owns the three
  # forms (text for curl, HTML for browsers, JSON when asked for) and is never used outside development.
  class ErrorPage
    # Lines shown on each side of the one at fault.
    CONTEXT = 4
    # Frames of the way there.
    FRAMES = 8

    # The page's style sheet: it follows the device's scheme and width; only the source scrolls sideways.
    STYLE = ":root{color-scheme:light dark;--error:#a00;--code:#f6f6f6}" \
            "@media(prefers-color-scheme:dark){:root{--error:#ff8a80;--code:#2a2a2a}}" \
            "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;" \
            "overflow-wrap:anywhere}" \
            "h1{font-size:1.4rem;color:var(--error)}b{color:var(--error)}" \
            "pre{background:var(--code);padding:1rem;overflow:auto;font-size:14px;overflow-wrap:normal}" \
            "li{font-family:monospace;font-size:14px}p{white-space:pre-wrap}"

    # @param error [Exception]
    # @param request [Request, RackRequest]
    # @return [Array] the Rack response
    def self.render(error, request)
      new(error, request).render
    end

    # @param error [Exception]
    # @param request [Request, RackRequest]
    def initialize(error, request)
      @error = error
      @request = request
      @file, @line = place
    end

    # @return [Array] the Rack response
    def render
      accept = @request.header("accept").to_s
      if accept.include?("text/html") then [500, { "Content-Type" => "text/html; charset=utf-8" }, [html]]
      elsif accept.include?("json") then [500, { "Content-Type" => "application/problem+json" }, [json]]
      else
        [500, { "Content-Type" => "text/plain; charset=utf-8" }, [text]]
      end
    end

    private

    def place
      return [@error.file, @error.line] if @error.is_a?(BootError) && @error.file

      named = Location.of_text(@error.message)
      named = nil unless named && File.file?(named[0])
      @error.is_a?(SyntaxError) && named ? named : Location.of_error(@error) || named
    end

    def title
      "#{@error.class}: #{message}"
    end

    # Since Ruby 3.2 "Did you mean" belongs to the detailed message only, which also repeats the class.
    def message
      return @error.message unless @error.respond_to?(:detailed_message)

      @error.detailed_message(highlight: false).sub(" (#{@error.class})", "")
    end

    # Line numbers and texts around the one at fault.
    def source
      return [] unless @file && @line && File.file?(@file)

      first = [@line - CONTEXT, 1].max
      lines = File.readlines(@file, encoding: Encoding::UTF_8)[(first - 1)...(@line + CONTEXT)] || []
      lines.each_with_index.map { |line, index| [first + index, line.scrub.chomp] }
    end

    def way
      @error.backtrace.to_a.reject { |line| line.start_with?(*Location::NOISE) }.first(FRAMES)
            .filter_map { |line| describe(line) }
    end

    # "app/x.rb:3:in `y'" as "app/x.rb, line 3, in y"
    def describe(frame)
      file, line = Location.of_text(frame)
      return unless file

      method = frame[/in [`'](.+)'\z/, 1]
      "#{Location.shorten(file)}, line #{line}#{", in #{method}" if method}"
    end

    def text
      parts = [title, ""]
      parts << "#{Location.shorten(@file)}, line #{@line}" if @file
      source.each { |number, line| parts << "#{number == @line ? '>' : ' '} #{number.to_s.rjust(4)} | #{line}" }
      parts << "" << "#{@request.method} #{@request.path}" << "" << way.map { |line| "  #{line}" }
      "#{parts.flatten.join("\n")}\n"
    end

    def json
      lines = source.map { |number, line| { line: number, text: line } }
      JSON.generate(title: @error.class.name, status: 500, detail: message,
                    file: @file && Location.shorten(@file), line: @line, source: lines, trace: way)
    end

    def html
      code = source.map do |number, line|
        row = "#{number.to_s.rjust(4)} | #{escape(line)}"
        number == @line ? "<b>#{row}</b>" : row
      end
      <<~HTML
        <!doctype html><html lang="en"><meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>#{escape(@error.class)}</title><style>#{STYLE}</style>
        <h1>#{escape(@error.class)}</h1><p>#{escape(message)}</p>
        <p>#{escape("#{@request.method} #{@request.path}")}</p>
        #{"<p>#{escape(Location.shorten(@file))}, line #{@line}</p><pre>#{code.join("\n")}</pre>" if @file}
        <ol>#{way.map { |line| "<li>#{escape(line)}</li>" }.join}</ol></html>
      HTML
    end

    def escape(value)
      SafeString.escape(value.to_s)
    end
  end
  private_constant :ErrorPage
end
