# frozen_string_literal: true

# SQLite for the workloads of our own; the server that the other benchmarks use as PostgreSQL.
if ENV["BENCH_DATABASE"] == "postgresql"
  AsyncRecord.connect(ENV.fetch("PG_URL", "postgres://bench:bench@127.0.0.1:15432/bench"),
                      size: Integer(ENV.fetch("DB_POOL", "16")))
else
  AsyncRecord.connect("sqlite:#{ENV.fetch("BENCH_SQLITE")}", size: Integer(ENV.fetch("BENCH_SIZE", "4")))
end
