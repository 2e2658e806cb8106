# frozen_string_literal: true

require "English"

# Owns starting the benchmarks; bench/run says what it needs and how to choose peers and workloads.
desc "Compare with other servers (ARGS are given to bench/run)"
task bench: :compile do
  sh "bench/run", *ENV.fetch("ARGS", "").split
end

namespace :bench do
  desc "Start our own bench variants and verify every answer, measuring nothing"
  task check: :compile do
    output = IO.popen(["bench/run", "--check", "--nice", "0", "-w", "all", "-p", "ours"], &:read)
    puts output
    abort "a variant did not start or gave a wrong answer" if output.include?("NOT RUN") || !$CHILD_STATUS.success?
  end
end
