# frozen_string_literal: true

# The error classes of the framework, in one place so that Rust can look them up and users can rescue them.
# It owns classes and their data; what a client gets to see of them is `error_response.rb`'s business.
module Fastr
  # The root of every error this gem raises on purpose.
  class Error < StandardError; end

  # A socket could not be bound; the message names the address and how to choose another.
  class BindError < Error; end

  # The reactor was used where it cannot be: not started, stopped meanwhile, or inherited through `fork`.
  class ReactorError < Error; end

  # A second answer to one request; the first one stands.
  class AlreadySentError < Error; end

  # The client closed its connection before the answer was complete.
  class DisconnectedError < Error; end

  # An operation passed its time limit.
  class TimeoutError < Error; end

  # An operation was cancelled by its caller, or because the client of its request left.
  class CancelledError < Error; end

  # A bug in fastr itself: a Rust panic, or an operation that ended without a result. Please report it.
  class InternalError < Error; end

  # The client sent something that cannot be used; the answer has {#status} and the message as its reason.
  class RequestError < Error
    # @return [Integer] the HTTP status to answer with (400, 408, 413, 415, 422, 431)
    attr_reader :status

    # @param message [String] the reason, safe to show to the client
    # @param status [Integer] the HTTP status to answer with
    def initialize(message = "Bad Request", status = 400)
      super(message)
      @status = status
    end
  end

  # No route matches the request: 404.
  class RouteNotFound < Error; end

  # The path exists, but not for this method: 405 with an Allow header.
  class MethodNotAllowed < Error
    # @return [Array<String>] the methods the path answers to
    attr_reader :allowed

    # @param allowed [Array<String>] the methods the path answers to
    def initialize(allowed)
      @allowed = allowed
      super("method not allowed; this path answers to #{allowed.join(", ")}")
    end
  end

  # A route names a controller or an action that does not exist, or its options contradict each other.
  class RouteError < Error; end

  # A path helper was called with too few, too many or unusable values.
  class PathError < Error; end

  # A template was asked for that no file provides; the message lists the paths tried.
  class TemplateMissing < Error; end

  # An action returned something that is no response, or streamed more or less than its Content-Length says.
  class ResponseError < Error; end

  # A configuration value cannot be used; the message names the fix.
  class ConfigurationError < Error; end

  # A file of the application could not be evaluated at boot; the message starts with file and line.
  class BootError < Error
    # @return [String, nil] the file at fault
    attr_reader :file
    # @return [Integer, nil] the line at fault
    attr_reader :line

    # @param message [String] what is wrong, with file, line and the nearest known name
    # @param file [String, nil] the file at fault
    # @param line [Integer, nil] the line at fault
    def initialize(message, file: nil, line: nil)
      super(message)
      @file = file
      @line = line
    end
  end
end
