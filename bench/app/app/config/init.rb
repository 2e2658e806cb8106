# frozen_string_literal: true

AsyncRecord.connect("sqlite:#{ENV.fetch("BENCH_SQLITE")}", size: Integer(ENV.fetch("BENCH_SIZE", "4")))
