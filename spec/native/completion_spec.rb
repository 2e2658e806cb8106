# frozen_string_literal: true

RSpec.describe Fastr::Completion, limit: ENV["FASTR_GC"] ? 300 : 20 do
  include Support::Dispatching

  def timer(seconds)
    described_class.start { |sink| Fastr::Native.timer(sink, seconds) }
  end

  def failing
    described_class.start { |sink| Fastr::Native.resolve(sink, "no such host.") }
  end

  # The errors that reach the reactor's handler while the block runs.
  def unclaimed(seconds = 0)
    errors = Thread::Queue.new
    Fastr::Dispatcher.instance.error_handler = ->(error) { errors << error }
    yield
    sleep seconds
    on_dispatcher { nil }
    Array.new(errors.size) { errors.pop }
  ensure
    Fastr::Dispatcher.instance.error_handler = nil
  end

  it "gives its value to every fiber and thread that waits, before and after it is there" do
    completion = on_dispatcher { described_class.start { |sink| Fastr::Native.resolve(sink, "127.0.0.1") } }
    slow = timer(0.05)
    values = Thread::Queue.new
    threads = Array.new(4) { Thread.new { values << slow.await } }
    4.times { Fastr::Dispatcher.next_tick { values << slow.await } }
    expect(Array.new(8) { values.pop }).to all(be_nil)
    threads.each(&:join)
    expect([completion.await, completion.await, on_dispatcher { completion.await }]).to all(eq(["127.0.0.1"]))
  end

  it "raises its error in every fiber and thread that waits" do
    completion = failing
    errors = Thread::Queue.new
    wait = lambda do
      completion.await
    rescue Fastr::Error => error
      errors << error
    end
    threads = Array.new(3) { Thread.new(&wait) }
    3.times { Fastr::Dispatcher.next_tick(&wait) }
    expect(Array.new(6) { errors.pop }.uniq.size).to eq(1)
    threads.each(&:join)
  end

  it "calls callbacks in order, late ones too, always on the dispatcher" do
    order = Thread::Queue.new
    completion = timer(0)
    2.times { |number| completion.callback { order << [number, Fastr::Dispatcher.on_dispatcher?] } }
    completion.await
    completion.callback { order << [2, Fastr::Dispatcher.on_dispatcher?] }
    expect(Array.new(3) { order.pop }).to eq([[0, true], [1, true], [2, true]])
  end

  it "calls the callbacks behind one that raises" do
    called = Thread::Queue.new
    errors = unclaimed do
      completion = timer(0)
      completion.callback { raise IOError, "on purpose" }.callback { called << true }
      called.pop
    end
    expect(errors.map(&:message)).to eq(["on purpose"])
  end

  it "ends a wait at its limit, in a fiber and in a thread, and the operation goes on" do
    slow = timer(relaxed(0.2))
    [-> { slow.await(limit: 0.01) }, -> { on_dispatcher { slow.await(limit: 0.01) } }].each do |wait|
      expect(&wait).to raise_error(Fastr::TimeoutError, /0.01 s/)
    end
    expect(slow.await(limit: 10)).to be_nil
  end

  it "ends with a time-out, and a late result finds nobody" do
    expect { timer(60).timeout(0.01).await }.to raise_error(Fastr::TimeoutError)
    expect(timer(0).timeout(60).await).to be_nil
    eventually { Fastr::Native.stats[:operations].zero? }
  end

  it "reports a time-out that no errback takes, and nothing when the result was in time" do
    errors = unclaimed(0.05) do
      on_dispatcher { timer(60).timeout(0.001) }
      on_dispatcher { timer(0).timeout(60) }
    end
    expect(errors.map(&:class)).to eq([Fastr::TimeoutError])
  end

  it "is cancelled once, and quietly" do
    errors = unclaimed(0.01) do
      completion = timer(60)
      expect { completion.cancel.cancel.await }.to raise_error(Fastr::CancelledError)
      completion.cancel
      timer(60).cancel
    end
    expect(errors).to be_empty
  end

  it "reports an error that nobody asked for" do
    expect(unclaimed(0.02) { on_dispatcher { failing } }.size).to eq(1)
  end

  it "leaves another thread the time to add its errback" do
    taken = Thread::Queue.new
    errors = unclaimed(0.3) do
      completion = failing
      sleep 0.05
      completion.errback { |error| taken << error }
      taken.pop
    end
    expect(errors).to be_empty
    expect(unclaimed(0.4) { failing }.size).to eq(1)
  end

  it "keeps a result that comes while the operation is still being submitted" do
    value = on_dispatcher do
      described_class.await do |sink|
        Fastr::Native.resolve(sink, "127.0.0.1")
        sleep 0.02
      end
    end
    expect(value).to eq(["127.0.0.1"])
  end

  it "leaves nothing behind when its submission raises" do
    dispatcher = Fastr::Dispatcher.instance
    on_dispatcher { nil }
    before = on_dispatcher { dispatcher.instance_variable_get(:@pending).size }
    [-> { described_class.start { raise IOError } }, -> { described_class.await { raise IOError } },
     -> { on_dispatcher { described_class.await(limit: 60) { raise IOError } } }].each do |submit|
      expect(&submit).to raise_error(IOError)
    end
    expect(on_dispatcher { dispatcher.instance_variable_get(:@pending).size }).to eq(before)
    eventually { Fastr::Native.stats[:operations].zero? }
  end

  it "wakes each waiter once though results and limits race" do
    on_dispatcher { nil }
    outcomes = Thread::Queue.new
    200.times do |number|
      Fastr::Dispatcher.next_tick do
        slow = timer(0.001)
        outcomes << begin
          slow.await(limit: 0.0005 + (number % 5 * 0.0003)) || :done
        rescue Fastr::TimeoutError
          :late
        end
        sleep 0.002
        outcomes << :after
      end
    end
    seen = Array.new(400) { outcomes.pop }.tally
    expect([seen[:after], seen.fetch(:done, 0) + seen.fetch(:late, 0)]).to eq([200, 200])
  end

  it "gives the errors of threads and the results of 50 threads at once" do
    threads = Array.new(50) do |number|
      Thread.new { described_class.await { |sink| Fastr::Native.timer(sink, number % 3 * 0.001) } }
    end
    expect(threads.map(&:value)).to all(be_nil)
  end
end
