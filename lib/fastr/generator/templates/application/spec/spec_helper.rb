# frozen_string_literal: true

ENV["FASTR_ENV"] = "test"
require "fastr"
require "fastr/test"

# Once there is a database, each example in a transaction that is taken back:
# require "async_record/test"

RSpec.configure do |config|
  config.include Fastr::Test::Requests
  # config.include AsyncRecord::Test::RSpec
  config.before { use_application(File.expand_path("..", __dir__)) }
end
