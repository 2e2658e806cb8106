# frozen_string_literal: true

require "json"

# Measures what a contender does: wall, CPU of the process, CPU of the Ruby thread that works.
class Harness
  ROWS = 10_000
  ROW_LIMIT = 1000
  CONCURRENT = 20

  attr_reader :kind, :url, :results

  def initialize
    @kind, @url = ARGV
    @results = {}
    @random = Random.new(42)
  end

  # A key that exists.
  def key
    @random.rand(1..ROWS)
  end

  # Runs the block often enough for half a second and keeps the time of one call.
  def measure(name, calls: nil, warm: 3, &work)
    warm.times(&work)
    calls ||= calls_for(&work)
    before = clocks
    calls.times(&work)
    times = clocks.zip(before).map { |now, earlier| (now - earlier) / calls }
    @results[name] = %w[wall cpu ruby].zip(times).to_h
  end

  def report
    puts JSON.generate(results)
  end

  private

  def calls_for(&work)
    started = clocks.first
    5.times(&work)
    (0.5 / ((clocks.first - started) / 5)).clamp(3, 20_000).to_i
  end

  def clocks
    [Process::CLOCK_MONOTONIC, Process::CLOCK_PROCESS_CPUTIME_ID, Process::CLOCK_THREAD_CPUTIME_ID]
      .map { |clock| Process.clock_gettime(clock) }
  end
end
