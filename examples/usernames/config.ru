# frozen_string_literal: true

require "fastr"

run Fastr::Application.new(__dir__)
