# frozen_string_literal: true

# Owns how `gem install` builds the extension: writes a Makefile that calls cargo. Only Ruby's standard library is used.
require "rbconfig"

cargo = ENV.fetch("CARGO", "cargo")
unless system(cargo, "--version", out: File::NULL, err: File::NULL)
  abort <<~MESSAGE
    fastr-rb is partly written in Rust and found no working `#{cargo}`.
    Install Rust 1.94 or newer (rustup.rs) and see that cargo is in PATH,
    or install a precompiled gem of your platform.
  MESSAGE
end

root = File.expand_path("../..", __dir__)
# A target folder of one's own is kept (a build cache); the default one is removed once the library is installed.
target = ENV["FASTR_TARGET_DIR"] || File.expand_path("target")
cleanup = ENV["FASTR_TARGET_DIR"] ? "true" : "rm -rf '#{target}'"
library = "libfastr.#{RUBY_PLATFORM.include?('darwin') ? 'dylib' : 'so'}"

File.write("Makefile", <<~MAKEFILE)
  sitearchdir = #{RbConfig::CONFIG['sitearchdir']}
  export RUBY = #{RbConfig.ruby}
  # Set by RubyGems to the time of day, it would make cargo build SQLite anew each time.
  unexport SOURCE_DATE_EPOCH

  all:
  \t#{cargo} build --locked --release -p fastr --manifest-path '#{root}/Cargo.toml' --target-dir '#{target}'

  install: all
  \tmkdir -p "$(DESTDIR)$(sitearchdir)/fastr"
  \tcp '#{target}/release/#{library}' "$(DESTDIR)$(sitearchdir)/fastr/native.#{RbConfig::CONFIG['DLEXT']}"
  \t#{cleanup}

  clean:
  \t#{cleanup}

  .PHONY: all install clean
MAKEFILE
