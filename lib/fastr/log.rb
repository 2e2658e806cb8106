# frozen_string_literal: true

require "logger"

module Fastr
  # Logging as in 2010: a class that includes this module has `logger`, its instances have `log`; every line is
  # `[LEVEL] [Class]: message` on standard output. It owns format, level and the shared device; it knows no request.
  #
  # @example
  #   class Mailer
  #     include Fastr::Log
  #     def send_all = log.info("sending")
  #   end
  module Log
    @level = ::Logger::DEBUG
    @device = $stdout
    @loggers = []

    # Formats one line; a test silences the framework by redefining {#call} (see `fastr/test/logger`).
    class Formatter < ::Logger::Formatter
      # @return [String] the name printed in the second pair of brackets
      attr_accessor :progname

      # @param name [#to_s] the class that logs
      def initialize(name)
        super()
        @progname = name
      end

      # @return [String] the finished line
      def call(severity, _time, _progname, message)
        "[#{severity}] [#{@progname}]: #{harmless(message.is_a?(String) ? message : msg2str(message))}\n"
      end

      private

      # What a client sent may be part of a message: it must neither look like a line of its own nor move the cursor.
      def harmless(text)
        text = text.dup.force_encoding(Encoding::UTF_8) if text.encoding == Encoding::BINARY
        return text.b.dump[1..-2] unless text.valid_encoding?
        return text unless text.match?(/[[:cntrl:]]/)

        text.gsub(/\n(?!\z)/, "\n  ").gsub(/[[:cntrl:]&&[^\n\t]]/) { |character| character.dump[1..-2] }
      end
    end

    # What `include Fastr::Log` gives the class itself.
    module ClassMethods
      # @return [::Logger] the class's own logger; a class without a logger of its own makes one
      def logger
        @logger ||= Log.create_logger(Log.device, Log.level, self)
      end
    end

    class << self
      # @return [Integer] the level of every logger (`Logger::DEBUG` …)
      attr_reader :level
      # @return [IO] where lines go
      attr_reader :device

      # Sets the level of every logger made so far or later.
      # @param level [Integer, Symbol, String] a `Logger` constant or its name
      def level=(level)
        @loggers.each { |logger| logger.level = level }
        probe = ::Logger.new(nil)
        probe.level = level
        @level = probe.level
      end

      # Redirects every logger.
      # @param device [IO] anything with `write`
      def device=(device)
        @device = device
        @loggers.each { |logger| logger.reopen(device) }
      end

      # @return [::Logger] a logger with this module's format
      def create_logger(device, level, name)
        logger = ::Logger.new(device, level: level, formatter: Formatter.new(name))
        @loggers << logger
        logger
      end

      # Gives the class its `logger`.
      # @api private
      def included(owner)
        super
        owner.extend(ClassMethods)
      end
    end

    # @return [::Logger] the logger of the receiver's class
    def log
      self.class.logger
    end
  end
end
