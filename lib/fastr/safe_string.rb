# frozen_string_literal: true

require "cgi/escape"

module Fastr
  # A String that is finished HTML: templates insert it as it is, and escape everything else. It owns the marker
  # and the escaping; adding plain text to it escapes that text, so the marker never lies.
  #
  # @example
  #   Fastr::SafeString.escape("<b>")                     # => "&lt;b&gt;"
  #   Fastr::SafeString.escape(Fastr::SafeString.new("<b>"))  # => "<b>"
  class SafeString < String
    # @param value [Object] anything a template prints
    # @return [String] the value as HTML
    def self.escape(value)
      case value
      when SafeString then value
      when String then CGI.escapeHTML(value)
      else
        text = value.to_s
        text.is_a?(SafeString) ? text : CGI.escapeHTML(text)
      end
    end

    # @return [true] always; the question Rails' own helpers and HAML ask
    def html_safe?
      true
    end

    # Appends; text that is not marked is escaped first.
    # @param value [String] what to append
    # @return [self]
    def <<(value)
      super(SafeString.escape(value))
    end

    # @see #<<
    def concat(*values)
      values.each { |value| self << value }
      self
    end

    # @param value [String] what to add; escaped unless it is marked
    # @return [SafeString] a new, marked string
    def +(other)
      SafeString.new(super(SafeString.escape(other)))
    end

    # @return [self]
    def to_s
      self
    end
  end
end
