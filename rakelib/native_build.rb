# frozen_string_literal: true

require "digest"
require "fileutils"
require "rbconfig"

# Owns building the extension in development: which cargo target folder is used and how its result is copied.
#
# The target folder lives outside the checkout so that a fresh clone reuses the compiled dependencies. Cargo keeps the
# crates of two checkouts apart by itself, with one exception: the shared library has no hash in its name. Hence the
# lock, and the stamp that says whose library lies there.
module NativeBuild
  ROOT = File.expand_path("..", __dir__)
  LIBRARY = "libfastr.#{RUBY_PLATFORM.include?('darwin') ? 'dylib' : 'so'}".freeze
  DESTINATION = File.join(ROOT, "lib/fastr/native.#{RbConfig::CONFIG['DLEXT']}")
  STALE_AFTER = 2 * 24 * 3600

  module_function

  def target_dir
    cache = ENV["XDG_CACHE_HOME"] || File.join(Dir.home, ".cache")
    ENV["FASTR_TARGET_DIR"] || File.join(cache, "fastr/target")
  end

  # The environment of every cargo call: rb-sys builds against the Ruby that RUBY names.
  def cargo_env
    { "CARGO_TARGET_DIR" => target_dir, "RUBY" => RbConfig.ruby }
  end

  # Builds the library and copies it to `destination`.
  def build(destination = DESTINATION)
    claim do
      sh "build", "--locked", "--release", "-p", "fastr"
      install(File.join(target_dir, "release", LIBRARY), destination)
    end
  end

  # Yields while no other checkout touches the library; afterwards the library there is this checkout's.
  def claim(owner = ROOT)
    FileUtils.mkdir_p(target_dir)
    File.open(File.join(target_dir, ".fastr.lock"), "w") do |lock|
      lock.flock(File::LOCK_EX)
      stamp = File.join(target_dir, ".fastr.checkout")
      evict(stamp) unless File.exist?(stamp) && File.read(stamp) == owner
      yield
      File.write(stamp, owner)
    end
  end

  # Forgets another checkout's library, and what checkouts not used for days have left.
  def evict(stamp)
    FileUtils.rm_f(stamp)
    sh "clean", "--quiet", "--release", "-p", "fastr"
    stale = Dir[File.join(target_dir, "{debug,release}/{deps,.fingerprint,incremental}/{lib,}fastr*")]
    FileUtils.rm_rf(stale.select { |path| File.mtime(path) < Time.now - STALE_AFTER })
  end

  # A running process may have the old library mapped: replace the file, never write into it.
  def install(from, destination)
    FileUtils.mkdir_p(File.dirname(destination))
    FileUtils.cp(from, "#{destination}.new")
    File.rename("#{destination}.new", destination)
  end

  def sh(*arguments)
    system(cargo_env, "cargo", *arguments, chdir: ROOT) || abort("cargo #{arguments.first} failed")
  end
end
