#!/usr/bin/env ruby
# frozen_string_literal: true

# Compares AsyncRecord with ActiveRecord, Sequel and the bare driver, on real servers that it starts and ends itself:
#
#   bench/record.rb [sqlite] [postgresql] [mysql] [--rounds 5]
#
# Every contender runs in a process of its own; the rounds alternate, medians count. Wall time says what one user waits,
# CPU what the Ruby process spent in all its threads, "Ruby" what its busiest Ruby thread spent (the rest is Rust's).

require "json"
require "open3"
require "rbconfig"
require_relative "../spec/support/servers"

# Drives the contenders and prints the table.
module RecordBench
  HERE = __dir__
  CONTENDERS = %w[async_record active_record sequel driver].freeze
  TITLES = { "find" => "find by key", "finds20" => "20 finds at once", "objects1000" => "1000 rows to objects",
             "json1000" => "1000 rows to JSON", "insert" => "insert", "update" => "update",
             "sleeps" => "40 x 0.2 s on 20 connections" }.freeze

  module_function

  def main(arguments)
    rounds = arguments.include?("--rounds") ? Integer(arguments[arguments.index("--rounds") + 1]) : 5
    kinds = %w[sqlite postgresql mysql] & arguments
    kinds = %w[sqlite postgresql mysql] if kinds.empty?
    kinds.each { |kind| table(kind, measure(kind, rounds)) }
  end

  def measure(kind, rounds)
    url = prepared(kind)
    results = Hash.new { |all, contender| all[contender] = Hash.new { |one, work| one[work] = [] } }
    rounds.times do
      CONTENDERS.each do |contender|
        run(contender, kind, url).each { |work, figures| results[contender][work] << figures }
      end
    end
    results
  end

  def run(contender, kind, url)
    environment = { "RUBYLIB" => File.join(HERE, "../lib") }
    script = File.join(HERE, "record/#{contender}.rb")
    output, error, status = Open3.capture3(environment, RbConfig.ruby, script, kind, url)
    abort "#{contender} on #{kind} failed:\n#{error}" unless status.success?
    JSON.parse(output)
  end

  def prepared(kind)
    require_relative "record/data"
    RecordData.prepare(kind)
  end

  def table(kind, results)
    puts "", "#{kind}: microseconds a call, median: wall / CPU / Ruby thread", ""
    puts "| work | #{CONTENDERS.join(' | ')} |", "|---|#{'---|' * CONTENDERS.size}"
    TITLES.each do |work, title|
      cells = CONTENDERS.map { |contender| cell(results[contender][work]) }
      puts "| #{title} | #{cells.join(' | ')} |"
    end
  end

  def cell(figures)
    return "-" if figures.empty?

    %w[wall cpu ruby].map { |name| round(median(figures.map { |one| one[name] })) }.join(" / ")
  end

  def median(numbers)
    numbers.sort[numbers.size / 2] * 1_000_000
  end

  def round(number)
    number < 100 ? number.round(1) : number.round
  end
end

RecordBench.main(ARGV) if $PROGRAM_NAME == __FILE__
