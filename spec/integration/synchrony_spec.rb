# frozen_string_literal: true

require "fastr/synchrony"

RSpec.describe Fastr::Reactor::Synchrony do
  include Support::Dispatching

  let(:synchrony) { described_class }

  def later(value, after: 0.01, ok: true)
    deferrable = Fastr::DefaultDeferrable.new
    Fastr::Reactor.add_timer(after) { ok ? deferrable.succeed(*value) : deferrable.fail(*value) }
    deferrable
  end

  # In a process of its own: the names EM and EventMachine are the originals' in others.
  def run_old_program(code)
    output, status = run_ruby("require 'fastr/eventmachine'; require 'em-synchrony'; #{code}")
    expect(status).to be_success, output
    output
  end

  it "is found by the name of the gem, with the reactor's names" do
    output = run_old_program("require 'em-synchrony/fiber_iterator'; p EM::S, EM::Synchrony::FiberIterator")
    expect(output).to eq("Fastr::Reactor::Synchrony\nFastr::Reactor::Synchrony::FiberIterator\n")
  end

  describe "EM.synchrony" do
    it "runs the reactor with a block that may wait, and then the tail" do
      output = run_old_program(<<~RUBY)
        EM.synchrony(nil, -> { puts "tail" }) { EM::Synchrony.sleep(0.01); puts "slept"; EM.stop }
      RUBY
      expect(output).to eq("slept\ntail\n")
    end

    it "begins at once on a running reactor, and lets the caller go on when it waits" do
      output = run_old_program(<<~RUBY)
        EM.run do
          EM.synchrony { puts 1; EM::Synchrony.sleep(0.01); puts 3; EM.stop }
          puts 2
        end
      RUBY
      expect(output).to eq("1\n2\n3\n")
    end

    it "raises from run what the block raises" do
      output = run_old_program(<<~RUBY)
        begin
          EM.synchrony { EM::Synchrony.sleep(0.01); raise "boom" }
        rescue RuntimeError => e
          puts e.message
        end
      RUBY
      expect(output).to eq("boom\n")
    end

    it "gives what the block raises to the error handler" do
      output = run_old_program(<<~RUBY)
        EM.error_handler { |error| puts error.message; EM.stop }
        EM.synchrony { EM::Synchrony.sleep(0.01); raise "boom" }
      RUBY
      expect(output).to eq("boom\n")
    end
  end

  describe ".sync" do
    it "returns what the deferrable succeeded with" do
      expect(on_dispatcher { synchrony.sync(later(1)) }).to eq(1)
      expect(on_dispatcher { synchrony.sync(later([1, 2])) }).to eq([1, 2])
    end

    it "returns what it failed with, and does not raise it" do
      error = RuntimeError.new("no")
      expect(on_dispatcher { synchrony.sync(later([error], ok: false)) }).to be(error)
    end

    it "returns at once what is settled already" do
      settled = Fastr::DefaultDeferrable.new.succeed(7)
      expect(on_dispatcher { synchrony.sync(settled) }).to eq(7)
    end

    it "waits on an ordinary thread as well" do
      Fastr::Dispatcher.instance.ensure_running
      expect(synchrony.sync(later(1))).to eq(1)
    end

    it "takes AsyncRecord's promises" do
      database = memory_database
      rows = on_dispatcher { synchrony.sync(AsyncRecord.async { database.query("select 1 as one") }) }
      expect(rows).to eq([{ "one" => 1 }])
    end

    it "lets others run meanwhile" do
      order = []
      on_dispatcher do
        waiting = Fastr::Completion.start { |sink| Fastr::Native.timer(sink, 0.02) }
        Fastr::Dispatcher.next_tick { order << :other }
        synchrony.sync(waiting)
        order << :waited
      end
      expect(order).to eq(%i[other waited])
    end
  end

  describe ".defer" do
    it "waits for an operation on another thread" do
      expect(on_dispatcher { [synchrony.defer { Thread.current }, Thread.current].uniq.size }).to eq(2)
    end

    it "raises what the operation raised" do
      expect { on_dispatcher { synchrony.defer { raise ArgumentError, "bad" } } }.to raise_error(ArgumentError, "bad")
    end
  end

  it "waits for a command" do
    output, status = on_dispatcher { synchrony.system("echo hello") }
    expect([output, status.success?]).to eq(["hello\n", true])
  end

  it "runs blocks of timers and ticks where they may wait" do
    on_dispatcher { nil } # what is asked of a reactor that does not run waits until it does
    expect(called_back { |done| synchrony.add_timer(0.001) { done.call(synchrony.sync(later(1))) } }).to eq(1)
    expect(called_back { |done| synchrony.next_tick { done.call(synchrony.sync(later(2))) } }).to eq(2)
    timer = nil
    got = called_back { |done| timer = synchrony.add_periodic_timer(0.001) { done.call(synchrony.sync(later(3))) } }
    expect(got).to eq(3)
  ensure
    Fastr::Reactor.cancel_timer(timer)
  end

  describe Fastr::Reactor::Synchrony::Multi do
    it "waits for several deferrables by name and tells which failed" do
      multi = described_class.new
      on_dispatcher do
        multi.add(:a, later(1))
        multi.add(:b, later(2, ok: false))
        multi.perform
      end
      expect(multi.responses.transform_values(&:keys)).to eq({ callback: [:a], errback: [:b] })
    end

    it "refuses a name twice" do
      multi = described_class.new
      multi.add(:a, Fastr::DefaultDeferrable.new)
      expect { multi.add(:a, Fastr::DefaultDeferrable.new) }.to raise_error(ArgumentError, /:a already/)
    end
  end
end
