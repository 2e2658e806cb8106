# frozen_string_literal: true

# Owns starting the benchmarks; bench/run says what it needs and how to choose peers and workloads.
desc "Compare with other servers (ARGS are given to bench/run)"
task bench: :compile do
  sh "bench/run", *ENV.fetch("ARGS", "").split
end

namespace :bench do
  desc "Start our own bench variants and verify every answer, measuring nothing"
  task check: :compile do
    sh "bench/run", "--self-check"
  end
end
