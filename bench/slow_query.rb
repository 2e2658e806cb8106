#!/usr/bin/env ruby
# frozen_string_literal: true

# What slow queries cost everybody else: the latency of a route that says hello, first alone and then while ten queries
# of 5 s run on PostgreSQL and on MariaDB. Rounds alternate; the medians of p50 and p99 and their ratio are printed.
#
#   bench/slow_query.rb [--rounds 3]
#
# Needs wrk. It starts and ends the servers itself.

require "net/http"
require "rbconfig"
require "tmpdir"
require_relative "../spec/support/servers"

# Measures with wrk.
module SlowQuery
  ROOT = File.expand_path("..", __dir__)
  APP = <<~RUBY
    require "fastr/dsl"
    require "async_record"
    AsyncRecord.connect(ENV.fetch("BENCH_URL"), size: 20)
    get("/hello") { "Hello, World!" }
    get("/nap") { AsyncRecord.database.query(ENV.fetch("BENCH_NAP")).size.to_s }
  RUBY
  NAPS = { postgresql: "select pg_sleep(5)", mysql: "select sleep(5)" }.freeze
  SECONDS = 4

  module_function

  def main(rounds)
    NAPS.each do |kind, nap|
      serve(kind, nap) do |port|
        get(port, "/hello")
        pairs = Array.new(rounds) { [latency(port), while_queries_run(port) { latency(port) }] }
        report(kind, pairs)
      end
    end
  end

  def serve(kind, nap)
    Dir.mktmpdir("fastr-slow") do |folder|
      File.write("#{folder}/app.rb", APP)
      port = free_port
      environment = { "RUBYLIB" => "#{ROOT}/lib", "FASTR_ENV" => "production", "BENCH_NAP" => nap,
                      "BENCH_URL" => Support::Servers.server(kind).url }
      pid = Process.spawn(environment, RbConfig.ruby, "app.rb", "-p", port.to_s, chdir: folder, out: File::NULL)
      wait_for(port)
      yield port
    ensure
      Process.kill(:TERM, pid)
      Process.wait(pid)
    end
  end

  def while_queries_run(port)
    naps = Array.new(10) { Thread.new { get(port, "/nap") } }
    sleep 0.3
    result = yield
    abort "the queries ended too early" unless naps.all?(&:alive?)
    naps.each(&:join)
    result
  end

  # @return [Array<Float>] p50 and p99 in milliseconds
  def latency(port)
    output = IO.popen(["wrk", "-t1", "-c16", "-d#{SECONDS}s", "--latency", "http://127.0.0.1:#{port}/hello"], &:read)
    %w[50% 99%].map { |name| milliseconds(output[/^\s+#{name}\s+(\S+)/, 1]) }
  end

  def milliseconds(text)
    text.to_f * { "us" => 0.001, "ms" => 1, "s" => 1000 }.fetch(text[/[a-z]+/])
  end

  def report(kind, pairs)
    alone, busy = pairs.transpose.map { |list| list.transpose.map { |numbers| numbers.sort[numbers.size / 2] } }
    %w[p50 p99].each_with_index do |name, index|
      puts format("%<kind>-11s %<name>s alone %<alone>.2f ms, beside ten queries of 5 s %<busy>.2f ms: %<ratio>.2fx",
                  kind: kind, name: name, alone: alone[index], busy: busy[index], ratio: busy[index] / alone[index])
    end
  end

  def get(port, path)
    Net::HTTP.start("127.0.0.1", port, read_timeout: 30) { |http| http.get(path).value }
  end

  def wait_for(port)
    100.times do
      return TCPSocket.new("127.0.0.1", port).close
    rescue Errno::ECONNREFUSED
      sleep 0.1
    end
    abort "the server did not start"
  end

  def free_port
    server = TCPServer.new("127.0.0.1", 0)
    server.addr[1]
  ensure
    server.close
  end
end

SlowQuery.main(ARGV.include?("--rounds") ? Integer(ARGV[ARGV.index("--rounds") + 1]) : 3) if $PROGRAM_NAME == __FILE__
