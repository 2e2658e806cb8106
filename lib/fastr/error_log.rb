# frozen_string_literal: true

module Fastr
  # Writes an error of the application to the log, once, with the request it belongs to. It owns what of a backtrace
  # is worth reading; the answer is {ErrorResponse}'s work.
  module ErrorLog
    # Lines of a backtrace that are printed.
    LINES = 12

    module_function

    # @param error [Exception]
    # @param request [Request, RackRequest, nil]
    # @return [void]
    def write(error, request = nil)
      logger = Application.logger
      level = ErrorResponse.status(error) < 500 ? Logger::INFO : Logger::ERROR
      return unless logger.level <= level

      logger.add(level, [headline(error, request), *frames(error)].join("\n"))
    end

    def headline(error, request)
      text = "#{error.class}: #{error.message}"
      return text if request.nil?

      # An answered request has given its head back: only its number is left.
      place = error.is_a?(AlreadySentError) ? "" : "#{request.method} #{request.path} "
      "request=#{request.id || '-'} #{place}#{text}"
    end

    # 4xx are the client's doing: no backtrace.
    def frames(error)
      return [] if ErrorResponse.status(error) < 500

      lines = error.backtrace.to_a
      own = lines.reject { |line| line.start_with?(*Location::NOISE) }
      shown = (own.empty? ? lines : own).first(LINES).map { |line| "    #{line}" }
      cause = error.cause
      cause ? shown + ["  caused by #{cause.class}: #{cause.message}"] : shown
    end

    private_class_method :headline, :frames
  end
  private_constant :ErrorLog
end
