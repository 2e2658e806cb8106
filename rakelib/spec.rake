# frozen_string_literal: true

# Owns running the tests, each suite by its own runner in its own process.
require "tmpdir"

# Runs rspec. Some examples measure time, and on a machine that others use as well one can fail for their sake: what
# failed is run once more, alone and in the open. What is wrong fails twice.
module RSpecRun
  module_function

  def once_more_alone(*arguments, env: {})
    Dir.mktmpdir("fastr-spec") do |folder|
      env = env.merge("FASTR_SPEC_STATUS" => "#{folder}/status")
      return true if system(env, RbConfig.ruby, "-S", "rspec", *arguments)

      puts "== once more, alone: what failed"
      system(env, RbConfig.ruby, "-S", "rspec", "--only-failures", *arguments)
    end
  end
end

desc "Run the specs (SPEC=path/or/folder for some of them)"
task :spec do
  RSpecRun.once_more_alone(*ENV.fetch("SPEC", "").split) || abort("specs failed")
end

namespace :spec do
  desc "Run the tests of the pure Rust core, beside database servers of their own"
  task :rust do
    with_databases = File.join(NativeBuild::ROOT, "bin/with-databases")
    sh NativeBuild.cargo_env, with_databases, "cargo", "test", "--locked", "-p", "fastr_core"
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

  desc "Run an acceptance script, e.g. rake spec:acceptance[01_fastr_app] (FASTR_ACCEPTANCE names their folder)"
  task :acceptance, [:name] do |_task, arguments|
    folder = ENV.fetch("FASTR_ACCEPTANCE", File.expand_path("../shared/acceptance", NativeBuild::ROOT))
    script = File.join(folder, "#{arguments.fetch(:name, '01_fastr_app')}.rb")
    next puts "no #{script}: skipped" unless File.exist?(script)

    environment = { "PATH" => "#{NativeBuild::ROOT}/exe:#{ENV.fetch('PATH')}",
                    "RUBYLIB" => [File.join(NativeBuild::ROOT, "lib"), ENV.fetch("RUBYLIB", nil)].compact.join(":") }
    sh environment, RbConfig.ruby, script, verbose: false
  end
end
