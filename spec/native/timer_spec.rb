# frozen_string_literal: true

RSpec.describe "Timers", limit: ENV["FASTR_GC"] ? 300 : 20 do
  include Support::Dispatching

  before { on_dispatcher { nil } }

  it "fire once, in the order of their time" do
    order = Thread::Queue.new
    [0.03, 0.01, 0.02].each { |seconds| Fastr::Timer.new(relaxed(seconds)) { order << seconds } }
    expect(Array.new(3) { order.pop }).to eq([0.01, 0.02, 0.03])
  end

  it "made on another thread fire in time" do
    fired = Thread::Queue.new
    seconds = elapsed { Fastr::Reactor.add_timer(0.01) { fired << true } && fired.pop }
    expect(seconds).to be_between(0.01, relaxed(0.2))
  end

  it "that are cancelled never fire, and a second cancel is silent" do
    fired = []
    # On the dispatcher none can fire between being made and being cancelled, however slow the machine is.
    on_dispatcher do
      timer = Fastr::Timer.new(0.01) { fired << true }
      id = Fastr::Reactor.add_timer(0.01) { fired << true }
      2.times { timer.cancel }
      2.times { Fastr::Reactor.cancel_timer(id) }
      Fastr::Reactor.cancel_timer(123_456)
    end
    on_dispatcher { sleep 0.03 }
    expect(fired).to be_empty
  end

  it "can be cancelled in their own callback, once only and periodic" do
    fired = Thread::Queue.new
    on_dispatcher do # elsewhere they may fire before the variables have them
      once = Fastr::Timer.new(0) { once.cancel || fired << :once }
      periodic = Fastr::PeriodicTimer.new(0.001) { periodic.cancel || fired << :periodic }
    end
    expect([fired.pop, fired.pop]).to contain_exactly(:once, :periodic)
    on_dispatcher { sleep 0.02 }
    expect(fired).to be_empty
  end

  it "that are periodic stay on their grid and do not make up for missed calls", limit: 300 do
    times = Thread::Queue.new
    started = nil
    timer = on_dispatcher do
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      calls = 0
      Fastr::PeriodicTimer.new(0.1) do
        times << (Process.clock_gettime(Process::CLOCK_MONOTONIC) - started)
        sleep 0.25 if (calls += 1) == 2
      end
    end
    seen = Array.new(4) { times.pop }
    timer.cancel
    # 0.1, 0.2 (busy until 0.45), 0.5, 0.6: the grid of the first call.
    expect(seen.map { |time| (time * 10).floor }).to eq([1, 2, 5, 6]) unless ENV["FASTR_GC"]
    expect(seen).to eq(seen.sort)
  end

  it "that are periodic go on after their callback raised" do
    errors = Thread::Queue.new
    Fastr::Dispatcher.instance.error_handler = ->(error) { errors << error.message }
    calls = 0
    timer = Fastr::PeriodicTimer.new(0.001) { raise (calls += 1).to_s }
    expect(Array.new(3) { errors.pop }).to eq(%w[1 2 3])
  ensure
    timer&.cancel
    on_dispatcher { nil }
    Fastr::Dispatcher.instance.error_handler = nil
  end

  it "that are periodic take a new interval from their next call on" do
    times = Thread::Queue.new
    timer = on_dispatcher do
      periodic = Fastr::PeriodicTimer.new(0.01) do
        times << Process.clock_gettime(Process::CLOCK_MONOTONIC)
        periodic.interval = 0.1
      end
    end
    first, second = Array.new(2) { times.pop }
    timer.cancel
    expect(second - first).to be_between(0.05, relaxed(0.18))
  end

  it "of no or negative time fire at once" do
    fired = Thread::Queue.new
    [0, -1, -0.5].each { |seconds| Fastr::Timer.new(seconds) { fired << seconds } }
    expect(Array.new(3) { fired.pop }).to contain_exactly(0, -1, -0.5)
  end

  it "are 50,000 at once", limit: 300 do
    count = ENV["FASTR_GC"] ? 500 : 50_000
    fired = 0
    on_dispatcher do
      done = Thread::Queue.new
      count.times { |number| Fastr::Timer.new(number % 10 * 0.001) { (fired += 1) == count && done << true } }
      done.pop
    end
    expect(fired).to eq(count)
    expect(on_dispatcher { Fastr::Dispatcher.instance.instance_variable_get(:@pending).size }).to be < 100
  end
end
