# frozen_string_literal: true

# Silences every logger of the framework during tests: `require "fastr/test/logger"`.
require "fastr"
require "stringio"

Fastr::Log.device = StringIO.new.tap { |device| device.define_singleton_method(:write) { |text| text.to_s.bytesize } }
