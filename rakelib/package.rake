# frozen_string_literal: true

# Owns the gems we ship: the source gem, the precompiled one, and the proof that both install without a network.
require "rubygems/package"
require "tmpdir"

namespace :package do
  gemspec = -> { Gem::Specification.load(File.join(NativeBuild::ROOT, "fastr-rb.gemspec")) }
  package = lambda do |spec|
    mkdir_p "pkg", verbose: false
    file = File.expand_path("pkg/#{spec.file_name}")
    Gem::DefaultUserInteraction.use_ui(Gem::SilentUI.new) { Gem::Package.build(spec, false, true, file) }
    puts "#{file} (#{File.size(file) / 1024} KiB)"
    file
  end

  desc "Build the source gem (compiled at install, needs cargo)"
  task :source do
    package.call(gemspec.call)
  end

  desc "Build a precompiled gem for this platform and Ruby"
  task :native do
    abi = RbConfig::CONFIG.values_at("MAJOR", "MINOR")
    library = "lib/fastr/#{abi.join('.')}/native.#{RbConfig::CONFIG['DLEXT']}"
    NativeBuild.build(File.join(NativeBuild::ROOT, library))
    spec = gemspec.call
    spec.platform = Gem::Platform.local.tap { |platform| platform.version = nil }
    spec.extensions = []
    spec.files = spec.files.grep_v(%r{\A(?:ext/|Cargo\.)}) + [library]
    spec.required_ruby_version = [">= #{abi.join('.')}", "< #{abi[0]}.#{abi[1].to_i + 1}.dev"]
    package.call(spec)
  ensure
    rm_rf File.dirname(library), verbose: false if library
  end

  # Installs into an empty folder with only this machine's gems in reach, then loads the library and runs the command.
  try = lambda do |file, env|
    Dir.mktmpdir("fastr-gem") do |home|
      env = { "GEM_HOME" => home, "GEM_PATH" => [home, *Gem.path].join(":"),
              "RUBYLIB" => nil, "RUBYOPT" => nil }.merge(env)
      run = ->(*command) { sh env, RbConfig.ruby, *command, chdir: home, verbose: false }
      puts "== gem install #{File.basename(file)}"
      run.call("-S", "gem", "install", "--local", "--no-document", file)
      run.call("-e", "require 'fastr'; puts Fastr::VERSION")
      run.call("#{home}/bin/fastr", "version")
      left = Dir["#{home}/**/target"]
      abort "left behind by the installation: #{left.join(', ')}" if left.any?
      puts "installed size: #{Dir["#{home}/**/*"].sum { |path| File.size(path) } / 1024} KiB"
    end
  end

  desc "Install both gems into an empty folder, without a network, and use them"
  task check: %i[source native] do
    files = Dir["pkg/fastr-rb-#{gemspec.call.version}*.gem"].map { |path| File.expand_path(path) }
    # Building from a temporary folder leaves that folder's library in the shared target folder: claim it.
    NativeBuild.claim("an installed gem") do
      files.each { |file| try.call(file, "FASTR_TARGET_DIR" => NativeBuild.target_dir) }
    end
  end
end

desc "Build the gems"
task package: %w[package:source package:native]
