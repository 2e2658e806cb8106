# frozen_string_literal: true

# Owns the answer to "whose line was that?": the first frame outside of this library. Refuses to walk far: a line costs
# about 3 µs, so it is asked for only by transactions, by measured statements and after errors.

module AsyncRecord
  # Finds the program's own lines.
  module Caller
    LIBRARY = File.expand_path("..", __dir__)
    OWN = ["#{LIBRARY}/async_record", "#{LIBRARY}/fastr"].freeze
    # Frames that are looked at; the library itself is never deeper than that above the program.
    DEPTH = 40
    private_constant :LIBRARY, :OWN, :DEPTH

    class << self
      # @return [String, nil] "app/models/user.rb:12"; in a fiber started by a callback form, where that was written
      def line
        found = caller_locations(2, DEPTH)&.find { |location| !own?(location.path) }
        found ? "#{found.path}:#{found.lineno}" : Context[Pending]&.origin&.first&.sub(/:in .*/, "")
      end

      # @param path [String]
      # @return [Boolean] whether a file is this library's
      def own?(path)
        path.start_with?(*OWN) || path.start_with?("<internal:")
      end

      # @param backtrace [Array<String>]
      # @param origin [Array<String>] where the work was asked for
      # @return [Array<String>] one stack: the work's frames down to the promise, then those of whoever asked
      def joined(backtrace, origin)
        last = backtrace.rindex { |frame| frame.start_with?("#{LIBRARY}/async_record/") }
        (last ? backtrace[..last] : backtrace) + origin
      end
    end
  end
  private_constant :Caller
end
