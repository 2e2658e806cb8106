# frozen_string_literal: true

module Fastr
  # Turns what an application's file raised at boot into one {BootError}: file, line, message and the nearest known
  # name. It owns that text.
  module BootFailure
    # What evaluating a file can raise.
    ERRORS = [StandardError, ScriptError].freeze

    module_function

    # @param error [Exception]
    # @param file [String, nil] the file being evaluated
    # @return [BootError]
    def of(error, file = nil)
      return error if error.is_a?(BootError)

      path, line = place(error, file)
      text = message(error)
      text = "#{[Location.shorten(path), line].compact.join(':')}: #{text}" if path && !starts_with_place?(text)
      BootError.new(text, file: path, line: line).tap { |failure| failure.set_backtrace(error.backtrace) }
    end

    def place(error, file)
      named = Location.of_text(error.message) if error.is_a?(SyntaxError) || error.is_a?(RouteError)
      named ||= misnamed(error)
      return named if named

      line = error.backtrace.to_a.find { |frame| file && frame.start_with?("#{file}:") }
      Location.of_text(line) || Location.of_error(error) || [file, nil]
    end

    # Zeitwerk's "expected file … to define constant …, but didn't": only the message knows the file.
    def misnamed(error)
      path = error.message[/\Aexpected file (.+) to define constant /, 1] if error.is_a?(NameError)
      [path, 1] if path
    end

    # The first line, and Ruby's own suggestion; not the excerpt of the source that some Rubies add.
    def message(error)
      text = error.respond_to?(:detailed_message) ? error.detailed_message(highlight: false) : error.message
      return text.strip if error.is_a?(SyntaxError)

      # Ruby 3.2 and later add the class to the first line.
      first, *rest = text.sub(" (#{error.class})", "").lines.map(&:strip)
      [first, *rest.grep(/\ADid you mean/)].join(" ")
    end

    def starts_with_place?(text)
      text.match?(/\A[^\s:]+:\d+/)
    end

    private_class_method :place, :misnamed, :message, :starts_with_place?
  end
  private_constant :BootFailure
end
