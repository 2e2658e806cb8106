#!/usr/bin/env ruby
# frozen_string_literal: true

# The time until the subscriber of a channel has seen 50,000 messages: pushed from another thread on fastr, and on
# EventMachine from within its loop and from another thread. Each run is a process of its own, in turns; medians are
# printed, and the ratio to EventMachine's loop, which the bar is about.
#
#   bench/channel.rb [--rounds 5] [--out findings.json]
#
# Needs EventMachine (Debian's ruby-eventmachine).

require "json"
require "open3"
require "optparse"
require "rbconfig"

# Runs the contenders; started with a contender's name this file is that contender.
module ChannelBench
  NUMBER = 50_000
  CONTENDERS = { "fastr" => "fastr, from another thread", "loop" => "EventMachine, in its loop",
                 "thread" => "EventMachine, from another thread" }.freeze

  module_function

  def main(arguments)
    return puts(seconds(arguments.first)) if CONTENDERS.key?(arguments.first)

    options = { rounds: 5 }
    OptionParser.new do |parser|
      parser.on("--rounds N", Integer) { |number| options[:rounds] = number }
      parser.on("--out FILE") { |path| options[:out] = path }
    end.parse!(arguments)
    times = Hash.new { |all, name| all[name] = [] }
    options[:rounds].times { CONTENDERS.each_key { |name| times[name] << run(name) } }
    report(times.transform_values { |list| list.sort[list.size / 2] }, options[:out])
  end

  def run(name)
    environment = { "RUBYLIB" => File.expand_path("../lib", __dir__) }
    output, error, status = Open3.capture3(environment, RbConfig.ruby, __FILE__, name)
    abort "#{name} failed:\n#{error}" unless status.success?
    Float(output)
  end

  def report(medians, out)
    medians.each { |name, time| puts format("%-34<title>s %.3<time>f s", title: CONTENDERS[name], time: time) }
    ratio = medians["fastr"] / medians["loop"]
    puts format("fastr / EventMachine's loop: %.2<ratio>f", ratio: ratio)
    File.write(out, JSON.generate(channel_ratio: ratio)) if out
  end

  def seconds(name)
    name == "loop" ? in_loop : from_thread(*library(name))
  end

  # @return the reactor and the class of its channels
  def library(name)
    return [EM, EM::Channel] if name == "thread" && require("eventmachine")

    require "fastr"
    [Fastr::Reactor, Fastr::Channel]
  end

  def in_loop
    require "eventmachine"
    time = nil
    EM.run do
      channel = EM::Channel.new
      seen = 0
      channel.subscribe { (seen += 1) == NUMBER && (time = now - time) && EM.stop }
      time = now
      NUMBER.times { |message| channel.push(message) }
    end
    time
  end

  def from_thread(reactor, kind)
    Thread.new { reactor.run }
    sleep 0.01 until reactor.reactor_running?
    channel = kind.new
    finished = Thread::Queue.new
    seen = 0
    channel.subscribe { (seen += 1) == NUMBER && finished << now }
    sleep 0.1
    began = now
    NUMBER.times { |message| channel.push(message) }
    finished.pop - began
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

ChannelBench.main(ARGV) if $PROGRAM_NAME == __FILE__
