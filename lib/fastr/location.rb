# frozen_string_literal: true

module Fastr
  # Where in the user's own files something happened. It owns the difference between our files and theirs.
  module Location
    module_function

    # The folder of this gem's Ruby files, AsyncRecord's among them.
    LIBRARY = "#{File.dirname(__dir__)}/".freeze

    # @return [String] "file:line" of the nearest caller outside the framework
    def of_caller
      return @standing_at if @standing_at

      frame = caller_locations(2).find { |location| !ours?(location.path) }
      frame ? "#{shorten(frame.path)}:#{frame.lineno}" : ""
    end

    # Words that were recorded are said again as if from the place where they were written.
    # @param location [String]
    def standing_at(location)
      @standing_at = location
      yield
    ensure
      @standing_at = nil
    end

    # @param error [Exception]
    # @return [Array(String, Integer), nil] file and line of the first frame in a file of the user's
    def of_error(error)
      frames = error.backtrace_locations
      if frames
        frame = frames.find { |location| user_file?(location.path) }
        return frame && [frame.path, frame.lineno]
      end

      of_text(error.backtrace.to_a.find { |line| user_file?(line[/\A[^:]+/].to_s) })
    end

    # @param text [String, nil] a text that starts with "file:line"
    # @return [Array(String, Integer), nil]
    def of_text(text)
      match = /\A([^:\n]+):(\d+)/.match(text.to_s)
      match && [match[1], match[2].to_i]
    end

    # @return [String] a path relative to the working directory when it is below it
    def shorten(path)
      path.delete_prefix("#{Dir.pwd}/")
    end

    def ours?(path)
      path.to_s.start_with?(LIBRARY)
    end

    def user_file?(path)
      !ours?(path) && !path.start_with?("<internal") && File.file?(path) && !library?(path)
    end

    def library?(path)
      path.include?("/gems/") || path.start_with?(RbConfig::CONFIG["rubylibdir"], RbConfig::CONFIG["vendordir"])
    end

    private_class_method :ours?, :user_file?, :library?
  end
  private_constant :Location
end
