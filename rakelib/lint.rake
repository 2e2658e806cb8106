# frozen_string_literal: true

# Owns the checks that need no running program.
desc "Check formatting, Rust lints, Ruby style and Ruby warnings"
task lint: %w[lint:fmt lint:clippy lint:rubocop lint:warnings]

namespace :lint do
  desc "Check Rust formatting"
  task :fmt do
    sh "cargo", "fmt", "--all", "--check"
  end

  desc "Check Rust with clippy, warnings being errors"
  task :clippy do
    sh NativeBuild.cargo_env, "cargo", "clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"
  end

  desc "Check Ruby style"
  task :rubocop do
    sh "rubocop", "--format", "simple"
  end

  # Every file is parsed; what only shows when code runs is caught by spec/support/warnings.rb.
  desc "Check that `ruby -w` has nothing to say about any of our files"
  task :warnings do
    files = FileList["lib/**/*.rb", "exe/*", "spec/**/*.rb", "examples/**/*.{rb,ru}", "bench/**/*.{rb,ru}"]
            .reject { |path| path.include?("/templates/") || File.directory?(path) }
    noisy = files.filter_map do |path|
      output = IO.popen([RbConfig.ruby, "-wc", path, { err: %i[child out] }], &:read)
      output unless output == "Syntax OK\n"
    end
    abort noisy.join unless noisy.empty?
    puts "#{files.size} files, no warnings"
  end
end

# Takes a program that compiles for minutes, so it is no part of bin/test. What is known to be vulnerable lies in a git
# repository (RustSec's) that has to be reachable: rake audit[advisories].
desc "Check licences, sources and bans of the crates with cargo-deny (rake audit[advisories] asks RustSec, too)"
task :audit, [:more] do |_task, arguments|
  unless system("cargo", "deny", "--version", out: File::NULL, err: File::NULL)
    abort "cargo-deny is not there: cargo install --locked cargo-deny"
  end
  sh "cargo", "deny", "--workspace", "check", "--hide-inclusion-graph", "licenses", "bans", "sources",
     *arguments.more, *arguments.extras
end
