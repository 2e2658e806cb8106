# frozen_string_literal: true

require "fastr"
require "async_record"

run Fastr::Application.new(__dir__)
