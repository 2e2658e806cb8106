# frozen_string_literal: true

# Owns running the tests, each suite by its own runner in its own process.
require_relative "acceptance"
require_relative "cargo_tests"
require_relative "rspec_run"

# Parts of the names of the properties whose input comes from outside: clients, servers, URLs, statements.
FUZZED = %w[make_a_panic _panic any_pieces cut_anywhere shows_a_password beneath_the_root was_encoded
            at_every_length hides_that outside_strings never_matter among_any in_turn within_the_file
            is_read_back joined_again holds_no_line].freeze

desc "Run the specs (SPEC=path/or/folder for some of them)"
task :spec do
  RSpecRun.once_more_alone(*ENV.fetch("SPEC", "").split) || abort("specs failed")
end

namespace :spec do
  desc "Run the tests of the pure Rust core, beside database servers of their own"
  task :rust do
    with_databases = File.join(NativeBuild::ROOT, "bin/with-databases")
    tests = [with_databases, "cargo", "test", "--locked", "--no-fail-fast", "-p", "fastr_core"]
    CargoTests.new(NativeBuild.cargo_env, tests).run || abort("rust tests failed")
  end

  desc "Feed the parsers random input for FASTR_FUZZ_SECONDS (120), PROPTEST_CASES (20000) at a time"
  task :fuzz do
    seconds = Integer(ENV.fetch("FASTR_FUZZ_SECONDS", "120"))
    env = NativeBuild.cargo_env.merge("PROPTEST_CASES" => ENV.fetch("PROPTEST_CASES", "20000"))
    cargo = %w[cargo test --locked -p fastr_core --lib --test form --test multipart --test routes_order
               --test guard]
    finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
    loop do
      sh env, *cargo, "--", *FUZZED, verbose: false
      break if Process.clock_gettime(Process::CLOCK_MONOTONIC) > finish
    end
  end

  desc "Run the specs about MySQL on MySQL itself instead of MariaDB (bin/setup-mysql fetches it; SPEC=… for others)"
  task :mysql do
    sh "bin/setup-mysql"
    chosen = ENV.fetch("SPEC", nil)&.split || RSpecRun::ON_MYSQL
    passed = RSpecRun.once_more_alone(*chosen, "--tag", "mysql", env: { "FASTR_MYSQL" => "mysql" })
    passed || abort("specs failed on MySQL")
  end

  # A value that Rust keeps out of the collector's sight survives a normal run by luck; here it is freed or moved.
  desc "Run spec/native with the collector running at every allocation, and moving objects after every example"
  task :hostile, [:mode] do |_task, arguments|
    modes = arguments.mode ? [arguments.mode] : %w[stress compact]
    failed = modes.reject do |mode|
      RSpecRun.once_more_alone("spec/native", env: { "FASTR_GC" => mode })
    end
    abort "failed under FASTR_GC=#{failed.join(", ")}" if failed.any?
  end

  desc "Run acceptance scripts, e.g. rake spec:acceptance[02_async_record] (FASTR_ACCEPTANCE names their folder)"
  task :acceptance, [:name] do |_task, arguments|
    scripts = Acceptance.scripts(arguments.name ? [arguments.name, *arguments.extras] : Acceptance::DEFAULT)
    next if scripts.empty?

    environment = Acceptance.environment
    failed = scripts.reject { |script| system(environment, RbConfig.ruby, script) }
    abort "not accepted: #{failed.map { |script| File.basename(script) }.join(', ')}" if failed.any?
  end
end
