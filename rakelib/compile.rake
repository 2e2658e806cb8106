# frozen_string_literal: true

# Owns turning the Rust sources into lib/fastr/native.so.
require "rake/clean"

CLEAN.include("lib/fastr/native.*", "lib/fastr/[0-9]*.[0-9]*")
CLOBBER.include("pkg", "coverage", "doc", ".yardoc")

desc "Build the Rust extension and copy it to lib/fastr"
task :compile do
  NativeBuild.build
end

# `console` needs a library but not the newest one.
desc "Open irb with the framework loaded"
task console: :compile do
  ruby "-Ilib", "-S", "irb", "-r", "fastr"
end
