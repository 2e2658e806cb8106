# frozen_string_literal: true

RSpec.describe Fastr::Dispatcher do
  include Support::Dispatching

  def timer(seconds)
    Fastr::Completion.await { |sink| Fastr::Native.timer(sink, seconds) }
  end

  it "runs a block on its own thread" do
    expect(on_dispatcher { Thread.current }).to eq(described_class.instance.thread)
    expect(described_class.instance.thread).not_to eq(Thread.main)
  end

  it "goes on with other work while a fiber waits" do
    order = []
    on_dispatcher do
      done = Thread::Queue.new
      described_class.next_tick { timer(0.02).then { order << :slow }.then { done << true } }
      described_class.next_tick { order << :fast }
      done.pop
    end
    expect(order).to eq(%i[fast slow])
  end

  it "keeps the order of blocks from one thread" do
    order = []
    200.times { |number| described_class.next_tick { order << number } }
    on_dispatcher { nil }
    expect(order).to eq((0...200).to_a)
  end

  it "runs a tick that is queued in a tick in the next turn" do
    expect(on_dispatcher { [].tap { |seen| described_class.next_tick { seen << 1 } }.dup }).to eq([])
  end

  it "lets a waiting fiber be resumed inside an external enumerator" do
    values = on_dispatcher do
      numbers = Enumerator.new do |yielder|
        3.times { |number| yielder << number.tap { timer(0.001) } }
      end
      [numbers.next, numbers.next, numbers.next]
    end
    expect(values).to eq([0, 1, 2])
  end

  it "lets fibers that user code resumes wait as well" do
    values = on_dispatcher do
      fiber = Fiber.new do |first|
        timer(0.001)
        second = Fiber.yield(first + 1)
        timer(0.001)
        second + 1
      end
      [fiber.resume(1), fiber.resume(10)]
    end
    expect(values).to eq([2, 11])
  end

  it "waits without the GVL on any other thread" do
    expect(elapsed { timer(0.05) }).to be_between(0.045, relaxed(1))
  end

  it "raises a time-out and cancels what took too long" do
    expect { on_dispatcher { Fastr::Completion.await(limit: 0.01) { |sink| Fastr::Native.timer(sink, 60) } } }
      .to raise_error(Fastr::TimeoutError, /0.01 s/)
    expect { Fastr::Completion.await(limit: 0.01) { |sink| Fastr::Native.timer(sink, 60) } }
      .to raise_error(Fastr::TimeoutError)
    eventually { Fastr::Native.stats[:operations].zero? }
  end

  it "leaves no fiber-local variable of one piece of work to the next" do
    on_dispatcher { Thread.current[:secret] = "mine" }
    seen = Array.new(5) { on_dispatcher { Thread.current[:secret] } }
    expect(seen.compact).to be_empty
  end

  it "gives an error of an operation to the fiber that waits for it" do
    expect { on_dispatcher { Fastr::Completion.await { |sink| Fastr::Native.resolve(sink, "no such host.") } } }
      .to raise_error(Fastr::Error)
  end

  it "resumes a thousand fibers that wait at once" do
    seconds = elapsed do
      count = on_dispatcher do
        done = Thread::Queue.new
        1000.times { described_class.next_tick { timer(0.1).then { done << true } } }
        Array.new(1000) { done.pop }.size
      end
      expect(count).to eq(1000)
    end
    expect(seconds).to be < relaxed(5)
  end

  it "can be called from a trap handler" do
    queue = Thread::Queue.new
    previous = trap("USR1") { described_class.next_tick { queue << Thread.current } }
    on_dispatcher { nil }
    Process.kill("USR1", Process.pid)
    expect(queue.pop).to eq(described_class.instance.thread)
  ensure
    trap("USR1", previous || "DEFAULT")
  end
end
