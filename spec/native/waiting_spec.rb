# frozen_string_literal: true

require "monitor"
require "resolv"

# Ruby's own ways to wait, inside a fiber of the dispatcher: each parks the fiber, and everything else goes on.
RSpec.describe "Waiting in a fiber", limit: ENV["FASTR_GC"] ? 300 : 20 do
  include Support::Dispatching

  # Runs the block in a fiber beside a timer that ticks every millisecond; gives its value and how often that ticked.
  def beside(&block)
    on_dispatcher do
      ticks = 0
      timer = Fastr::PeriodicTimer.new(0.001) { ticks += 1 }
      [block.call, ticks]
    ensure
      timer.cancel
    end
  end

  # Each takes about 50 ms and gives :done.
  waits = {
    "sleep" => -> { sleep(0.05) && :done },
    "Mutex" => lambda do
      mutex = Mutex.new
      Fiber.schedule { mutex.synchronize { sleep 0.05 } }
      mutex.synchronize { :done }
    end,
    "a Mutex that another thread holds" => lambda do
      mutex = Mutex.new
      held = Thread::Queue.new
      Thread.new { mutex.synchronize { held << true && sleep(0.05) } }
      held.pop
      mutex.synchronize { :done }
    end,
    "ConditionVariable" => lambda do
      mutex = Mutex.new
      condition = ConditionVariable.new
      Fiber.schedule { sleep(0.05) && mutex.synchronize { condition.signal } }
      mutex.synchronize { condition.wait(mutex) } && :done
    end,
    "ConditionVariable with a limit, signalled before it by a thread" => lambda do
      mutex = Mutex.new
      condition = ConditionVariable.new
      Thread.new { sleep(0.05) && mutex.synchronize { condition.signal } }
      mutex.synchronize { condition.wait(mutex, 15) } && :done
    end,
    "ConditionVariable with a limit that passes" => lambda do
      mutex = Mutex.new
      mutex.synchronize { ConditionVariable.new.wait(mutex, 0.05) } && :done
    end,
    "Queue" => lambda do
      queue = Thread::Queue.new
      Thread.new { sleep(0.05) && queue << :done }
      queue.pop
    end,
    "SizedQueue" => lambda do
      queue = Thread::SizedQueue.new(1)
      Thread.new { sleep(0.05) && queue.pop }
      2.times { queue << :done }
      queue.pop
    end,
    "Monitor" => lambda do
      monitor = Monitor.new
      held = Thread::Queue.new
      Thread.new { monitor.synchronize { held << true && sleep(0.05) } }
      held.pop
      monitor.synchronize { :done }
    end,
    "Thread#join" => -> { Thread.new { sleep 0.05 }.join && :done },
    "Thread#value" => -> { Thread.new { sleep(0.05) && :done }.value },
    "IO.pipe" => lambda do
      IO.pipe do |reader, writer|
        Thread.new { sleep(0.05) && writer.write("done\n") }
        reader.gets.chomp.to_sym
      end
    end,
    "IO.select" => lambda do
      IO.pipe do |reader, writer|
        Thread.new { sleep(0.05) && writer.write("x") }
        IO.select([reader]) && :done
      end
    end,
    "IO#wait_readable" => lambda do
      IO.pipe { |reader, writer| Thread.new { sleep(0.05) && writer.write("x") } && reader.wait_readable && :done }
    end,
    "Process.wait" => -> { Process.wait(Process.spawn("sleep 0.05")) && :done },
    "system" => -> { system("sleep 0.05") && :done },
    "backticks" => -> { `sleep 0.05; echo done`.chomp.to_sym },
    "IO.popen" => -> { IO.popen("sleep 0.05; echo done", &:read).chomp.to_sym },
    "Timeout" => lambda do
      Timeout.timeout(0.05) { sleep 10 }
    rescue Timeout::Error
      :done
    end
  }
  waits.each do |name, wait|
    # IO.select has no hook before Ruby 3.3; there it blocks as it does everywhere.
    blocks = name == "IO.select" && !Fastr::Scheduler.method_defined?(:io_select)
    it "for #{name} #{blocks ? 'is right' : 'lets everything else go on'}" do
      value, ticks = beside(&wait)
      expect(value).to eq(:done)
      expect(ticks).to be > 3 unless blocks || ENV["FASTR_GC"]
    end
  end

  it "for a name works" do
    expect(on_dispatcher { Addrinfo.tcp("localhost", 80).ip_address }).to match(/127\.0\.0\.1|::1/)
    expect { on_dispatcher { TCPSocket.new("no such host.", 80) } }.to raise_error(SocketError)
  end

  it "for our own server with Net::HTTP is answered by another fiber of the same thread" do
    port = serve do |request|
      body = request.path == "/outer" ? http(server.port, "/inner").body.upcase : "inner"
      request.respond(200, Support::Dispatching::TEXT, body)
    end
    expect(http(port, "/outer").body).to eq("INNER")
  end

  it "for a Timeout around an Enumerator that waits ends when the enumerator's own wait does" do
    expect do
      on_dispatcher { Timeout.timeout(0.02) { Enumerator.new { |yielder| yielder << sleep(0.05) }.next && sleep(5) } }
    end.to raise_error(Timeout::Error)
  end

  it "is not disturbed by a time-out that could not be delivered at once" do
    values = on_dispatcher do
      begin
        Timeout.timeout(0.01) { Enumerator.new { |yielder| yielder << sleep(0.04) }.next && sleep(5) }
      rescue Timeout::Error
        nil
      end
      Array.new(20) { Fastr::Completion.await { |sink| Fastr::Native.resolve(sink, "127.0.0.1") } }
    end
    expect(values).to all(eq(["127.0.0.1"]))
  end

  it "in nested fibers goes on in each of them, in other lanes, with the right values" do
    values = on_dispatcher do
      done = Thread::Queue.new
      20.times do |number|
        Fastr::Dispatcher.next_tick do
          inner = Fiber.new do |first|
            sleep 0.001
            second = Fiber.yield([number, first])
            Enumerator.new { |yielder| sleep(0.001) && yielder << [number, second] }.next
          end
          done << [inner.resume(:a), inner.resume(:b)]
        end
      end
      Array.new(20) { done.pop }
    end
    expect(values.sort).to eq(Array.new(20) { |number| [[number, :a], [number, :b]] })
  end

  it "goes on when a fiber that was transferred to ends" do
    finished = Thread::Queue.new
    on_dispatcher { nil }
    Fastr::Dispatcher.next_tick { Fiber.new { sleep(0.001) && finished << true }.transfer }
    expect(finished.pop).to be(true)
    expect(on_dispatcher { :alive }).to eq(:alive)
  end

  it "ends with the client's leaving wherever it waits" do
    [-> { Thread::Queue.new.pop }, -> { sleep }, -> { sleep 60 }, -> { Fastr::Completion.start { |_| nil }.await },
     -> { Mutex.new.tap { |mutex| Thread.new { mutex.lock && sleep }.tap { Thread.pass until mutex.locked? } }.lock }]
      .each do |wait|
      errors = Thread::Queue.new
      port = serve do |request|
        request.start(200, Support::Dispatching::TEXT)
        wait.call
      rescue Fastr::DisconnectedError => error
        errors << error
      end
      connection(port) { |socket| socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n") && socket.readpartial(20) }
      expect(errors.pop).to be_a(Fastr::DisconnectedError)
      stop_serving
    end
  end

  it "on a thread with a scheduler of its own is that scheduler's business" do
    scheduler = Class.new do
      def run; end
      alias_method :close, :run

      def block(*) = true
      def unblock(*) = true
      def io_wait(_io, events, _limit) = events
      def kernel_sleep(*) = true

      def fiber(&block)
        Fiber.new(blocking: false, &block).tap(&:resume)
      end
    end
    on_dispatcher { nil }
    seconds = elapsed do
      Thread.new do
        Fiber.set_scheduler(scheduler.new)
        Fiber.schedule { sleep 30 }
        expect(Fastr::Completion.await { |sink| Fastr::Native.timer(sink, 0.001) }).to be_nil
      end.join
    end
    expect(seconds).to be < 5
  end

  it "2,000 times for a second takes little more than a second" do
    count = ENV["FASTR_GC"] ? 20 : 2_000
    seconds = elapsed do
      on_dispatcher do
        done = Thread::Queue.new
        count.times { Fastr::Dispatcher.next_tick { sleep(1) && done << true } }
        count.times { done.pop }
      end
    end
    expect(seconds).to be_between(1, relaxed(2.5))
  end

  it "leaves no variable of one request to the next, in whatever lane it runs" do
    port = serve do |request|
      before = Thread.current[:user]
      Thread.current[:user] = request.path
      sleep 0.002
      seen = [before, Thread.current[:user]]
      request.respond(200, Support::Dispatching::TEXT, seen.inspect)
    end
    threads = Array.new(8) { |number| Thread.new { Array.new(10) { http(port, "/#{number}").body } } }
    threads.each_with_index { |thread, number| expect(thread.value.uniq).to eq([[nil, "/#{number}"].inspect]) }
  end

  it "is woken for itself only, though wakes and limits race" do
    values = on_dispatcher do
      mutex = Mutex.new
      condition = ConditionVariable.new
      signaller = Thread.new { 300.times { mutex.synchronize { condition.broadcast } && Thread.pass } }
      values = Array.new(30) do
        mutex.synchronize { condition.wait(mutex, 0.0005) }
        Fastr::Completion.await { |sink| Fastr::Native.resolve(sink, "127.0.0.1") }
      end
      signaller.join
      values
    end
    expect(values).to all(eq(["127.0.0.1"]))
  end
end
