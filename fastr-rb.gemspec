# frozen_string_literal: true

require_relative "lib/fastr/version"

Gem::Specification.new do |spec|
  spec.name = "fastr-rb"
  spec.version = Fastr::VERSION
  spec.authors = ["The fastr contributors"]
  spec.summary = "Async MVC web framework whose reactor, HTTP server and database drivers are Rust."
  spec.description = <<~TEXT
    fastr is an asynchronous MVC web framework for Ruby. Sockets, HTTP, routing, static files, SQL and JSON from rows
    run in Rust without Ruby's global lock; controllers, filters and models are plain Ruby, written with callbacks or
    with straight-line code in fibers. AsyncRecord, its database layer for PostgreSQL, MySQL and
    SQLite, can be used on its own.
  TEXT
  spec.homepage = "https://github.com/fastr-rb/fastr-rb"
  spec.license = "MIT"
  spec.metadata = {
    "homepage_uri" => spec.homepage,
    "source_code_uri" => spec.homepage,
    "changelog_uri" => "#{spec.homepage}/blob/main/CHANGELOG.md",
    "bug_tracker_uri" => "#{spec.homepage}/issues",
    "documentation_uri" => "#{spec.homepage}/tree/main/docs",
    "rubygems_mfa_required" => "true"
  }
  spec.required_ruby_version = ">= 3.1"
  spec.required_rubygems_version = ">= 3.3.11"

  # What users get: sources, the Cargo workspace with its lock file, and the papers. An unpacked archive has no git.
  packed = %r{\A(?:lib|ext|exe|sig)/|\A(?:Cargo\.(?:toml|lock)|LICENSE|[A-Z]+\.md)\z}
  listed = File.exist?("#{__dir__}/.git") ? IO.popen(%w[git ls-files -z], chdir: __dir__, &:read).split("\0") : []
  listed = Dir.glob("**/*", base: __dir__).select { |path| File.file?("#{__dir__}/#{path}") } if listed.empty?
  spec.files = listed.grep(packed).grep_v(/\.(?:so|bundle)\z/)

  spec.bindir = "exe"
  spec.executables = ["fastr"]
  spec.require_paths = ["lib"]
  spec.extensions = ["ext/fastr/extconf.rb"]

  spec.add_dependency "dry-inflector", ">= 0.2.1", "< 2"
  spec.add_dependency "erubi", "~> 1.9"
  spec.add_dependency "logger", ">= 1.4", "< 2"
  spec.add_dependency "rack", ">= 2.2", "< 4"
  spec.add_dependency "thor", "~> 1.2"
  spec.add_dependency "tilt", ">= 2.0", "< 3"
  spec.add_dependency "zeitwerk", ">= 2.6", "< 3"
end
