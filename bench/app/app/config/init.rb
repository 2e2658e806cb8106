# frozen_string_literal: true

AsyncRecord.connect("sqlite:#{ENV.fetch('BENCH_SQLITE')}")
