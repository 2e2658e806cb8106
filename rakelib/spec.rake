# frozen_string_literal: true

# Owns running the tests, each suite by its own runner in its own process.
desc "Run the specs (SPEC=path/or/folder for some of them)"
task :spec do
  sh RbConfig.ruby, "-S", "rspec", *ENV.fetch("SPEC", "").split
end

namespace :spec do
  desc "Run the tests of the pure Rust core"
  task :rust do
    sh NativeBuild.cargo_env, "cargo", "test", "--locked", "-p", "fastr_core"
  end

  # A value that Rust keeps out of the collector's sight survives a normal run by luck; here it is freed or moved.
  desc "Run spec/native with the collector running at every allocation, and moving objects after every example"
  task :hostile, [:mode] do |_task, arguments|
    modes = arguments.mode ? [arguments.mode] : %w[stress compact]
    failed = modes.reject do |mode|
      system({ "FASTR_GC" => mode }, RbConfig.ruby, "-S", "rspec", "spec/native")
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
