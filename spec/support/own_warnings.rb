# frozen_string_literal: true

module Support
  # Under `ruby -w` keeps the warnings about our own library and drops the interpreter's remarks about other gems.
  module OwnWarnings
    LIBRARY = File.expand_path("../../lib", __dir__)
    REMARK = /\A(?<path>[^\n]+?):\d+: warning: /

    class << self
      attr_reader :seen
    end
    @seen = []

    def warn(message, **options)
      path = message[REMARK, :path]
      OwnWarnings.seen << message if path&.start_with?(LIBRARY)
      super if path.nil? || path.start_with?(LIBRARY)
    end
  end
end

Warning.singleton_class.prepend(Support::OwnWarnings)
