# frozen_string_literal: true

ENV["FASTR_ENV"] = "test"
require "fastr"
require "fastr/test"

RSpec.configure do |config|
  config.include Fastr::Test::Requests
  config.before { use_application(File.expand_path("..", __dir__)) }
end
