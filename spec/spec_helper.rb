# frozen_string_literal: true

# Owns how the specs run: warnings count, order is random, nothing hangs. Helpers are in spec/support.
$VERBOSE = true
require_relative "support/own_warnings"
require "English"
require "timeout"
require "fastr"
require "async_record"
Dir[File.join(__dir__, "support/*.rb")].each { |file| require file }

RSpec.configure do |config|
  config.disable_monkey_patching!
  config.order = :random
  config.example_status_persistence_file_path = ENV.fetch("FASTR_SPEC_STATUS", nil)
  config.fail_if_no_examples = true # also when only what failed is run again and nothing did
  Kernel.srand config.seed
  config.expect_with(:rspec) { |expectations| expectations.syntax = :expect }
  config.mock_with(:rspec) { |mocks| mocks.verify_partial_doubles = true }
  config.filter_run_when_matching :focus unless ENV["CI"]

  config.include Support::Eventually
  config.include Support::Clients
  config.include Support::Processes
  Support::HostileGC.install(config, ENV.fetch("FASTR_GC", nil))

  # A hang is a failure like any other; the limit is far above what any example needs. Should the dispatcher's thread
  # end, every later example would wait that long.
  config.fail_fast = 25
  limit = ENV["FASTR_GC"] ? 300 : 20
  config.around { |example| Timeout.timeout(example.metadata.fetch(:limit, limit)) { example.run } }

  # A lock in native code can hold the whole interpreter; the runner ends it then, and tells what ran last.
  running = ENV.fetch("FASTR_SPEC_RUNNING", nil)
  config.before { |example| File.write(running, "#{example.location} #{example.full_description}") } if running

  config.after(:suite) do
    Support::OwnWarnings.seen.each { |message| RSpec.configuration.reporter.message("warning in our code: #{message}") }
    abort "warnings in our own code" if Support::OwnWarnings.seen.any?
  end
end
