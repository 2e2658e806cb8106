# frozen_string_literal: true

RSpec.describe "The life of the reactor", limit: 60, gc: false do
  it "is as many runs as wanted" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      100.times do |number|
        Fastr::Reactor.run { Fastr::Reactor.add_timer(0) { Fastr::Reactor.stop } }
        Fastr::Native.stop if number.odd?
      end
      puts Fastr::Native.stats, Fastr::Reactor.reactor_running?, Thread.list.size
    RUBY
    expect(output).to match(/operations.*0.*\nfalse\n2\n/)
  end

  it "is a hundred native reactors one after the other, none of whose threads stays" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      100.times do
        Fastr::Completion.await { |sink| Fastr::Native.timer(sink, 0.0001) }
        Fastr::Native.stop
      end
      puts Dir["/proc/self/task/*/comm"].count { |path| File.read(path).start_with?("fastr-reactor") }
      puts Dir["/proc/self/fd/*"].size < 20
    RUBY
    expect(output).to eq("0\ntrue\n")
  end

  # Where a look-up by name lets other threads in, a lock around it would never be given back.
  it "begins on several threads at once, whatever they make first", :aggregate_failures do
    output, status = run_ruby(<<~'RUBY')
      require "async_record"
      def Object.const_get(*) = sleep(0.01).then { super }
      database = AsyncRecord.connect("sqlite::memory:")
      values = [Date.new(2026, 1, 2), BigDecimal("1.5"), DateTime.new(2026), AsyncRecord::Interval.new(days: 1)]
      firsts = {
        rows: -> { database.query("select 1 as one") },
        stream: -> { database.stream("select 1 as one") { |row| row } },
        binds: -> { values.map { |value| database.query("select ?", value) rescue $!.class } },
        timings: -> { AsyncRecord::Timings.new },
        routes: -> { Fastr::RouteTable.new },
        timer: -> { Fastr::Completion.await { |sink| Fastr::Native.timer(sink, 0.001) } }
      }
      firsts.each { |name, work| puts "#{name}: #{Array.new(4) { Thread.new(&work) }.map(&:value).uniq.size}" }
    RUBY
    expect(status).to be_success
    expect(output.lines(chomp: true)).to eq(["rows: 1", "stream: 1", "binds: 1", "timings: 4", "routes: 4", "timer: 1"])
  end

  it "is stopped while other threads ask for it" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      # A process in which a thread waits and keeps the others from running does not even end by itself.
      watch = fork { sleep 20; Process.kill(:KILL, Process.ppid) }
      2.times { Thread.new { loop { Fastr::Native.running?; Fastr::Native.start } } }
      8.times { Fastr::Native.stop } # each waits for a turn of both threads
      Process.kill(:KILL, watch)
      puts "stopped"
    RUBY
    expect(output).to eq("stopped\n")
  end

  it "hands over from the background to a program's own run, with what is pending" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      completion = Fastr::Completion.start { |sink| Fastr::Native.timer(sink, 0.05) }
      completion.callback { puts Thread.current == Thread.main }
      Fastr::Dispatcher.next_tick do
        sleep
      rescue Fastr::CancelledError => error
        puts error.message
      ensure
        puts "ensured"
      end
      sleep 0.01
      Fastr::Reactor.run { completion.callback { Fastr::Reactor.stop } }
      puts Fastr::Completion.await { |sink| Fastr::Native.resolve(sink, "127.0.0.1") }
    RUBY
    expect(output).to eq("the dispatcher stopped\nensured\ntrue\n127.0.0.1\n")
  end

  it "tells what was under way when the reactor stops, by a class that names it" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      waiter = Fastr::Waiter.new
      Fastr::Native.timer(waiter, 60)
      Fastr::Native.stop
      begin
        waiter.wait(5)
      rescue StandardError => error
        puts error.class, error.message
      end
    RUBY
    expect(output).to eq("Fastr::ReactorError\nthe reactor was stopped while this operation was under way\n")
  end

  it "goes on in the background after a callback ended it" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      Thread.report_on_exception = false
      dispatcher = Fastr::Dispatcher.instance
      3.times do
        dispatcher.ensure_running
        thread = dispatcher.thread
        Fastr::Dispatcher.next_tick { Thread.current.report_on_exception = false; raise "on purpose" }
        sleep 0.001 while thread.alive?
        p Fastr::Completion.start { |sink| Fastr::Native.timer(sink, 0) }.await
      end
    RUBY
    expect(output).to eq("nil\n" * 3)
  end

  it "begins once though many threads want it at once" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      threads = Array.new(20) { Thread.new { Fastr::Completion.start { |sink| Fastr::Native.timer(sink, 0) }.await } }
      threads.each(&:join)
      puts Thread.list.count { |thread| thread.name == "fastr-dispatcher" }
    RUBY
    expect(output).to eq("1\n")
  end

  it "refuses a second run on another thread and calls a nested one's block at once" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      Fastr::Reactor.run do
        Fastr::Reactor.run { puts "nested" }
        begin
          Fastr::Dispatcher.instance.run
        rescue Fastr::ReactorError => error
          puts error.message[0, 27]
        end
        puts Fastr::Reactor.reactor_running?
        Fastr::Reactor.stop
      end
      Fastr::Dispatcher.instance.ensure_running
      Fastr::Dispatcher.next_tick { Fastr::Reactor.run { puts "nested in the background" } }
      Fastr::Completion.start { |sink| Fastr::Native.timer(sink, 0.01) }.await
    RUBY
    expect(output).to eq("nested\nthe dispatcher runs already\ntrue\nnested in the background\n")
  end

  it "keeps the rest of a batch for the next run when a callback ends this one" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      10.times { |number| Fastr::Reactor.next_tick { number == 3 ? raise("3") : print(number) } }
      begin
        Fastr::Reactor.run
      rescue RuntimeError => error
        print "[", error.message, "]"
      end
      Fastr::Reactor.run { Fastr::Reactor.next_tick { Fastr::Reactor.stop } }
    RUBY
    expect(output).to eq("012[3]456789")
  end

  it "ends what is parked when a callback calls exit" do
    output, status = run_ruby(<<~RUBY)
      require "fastr"
      Fastr::Reactor.run do
        Fastr::Reactor.next_tick { Thread::Queue.new.pop }
        Fastr::Reactor.next_tick do
          sleep
        ensure
          puts "ensured"
        end
        Fastr::Reactor.add_timer(0.01) { exit 3 }
      end
    RUBY
    expect([output, status.exitstatus]).to eq(["ensured\n", 3])
  end

  it "does not keep a program from its end within a second, with requests in flight and operations pending" do
    output, status = run_ruby(<<~RUBY)
      require "fastr"
      require "socket"
      app = ->(_env) { sleep 60 }
      runner = Fastr::Runner.new(app, port: 0, quiet: true)
      thread = Thread.new { runner.run }
      sleep 0.01 until runner.server
      sockets = Array.new(20) do
        TCPSocket.new("127.0.0.1", runner.port).tap { |socket| socket.write("GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n") }
      end
      sleep 0.01 until runner.server.stats[:in_flight] == 20
      Fastr::Completion.start { |sink| Fastr::Native.resolve(sink, "localhost") }.errback {}
      $started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      END { puts Process.clock_gettime(Process::CLOCK_MONOTONIC) - $started < 1 }
      exit 4
    RUBY
    expect([output.lines.first, status.exitstatus]).to eq(["true\n", 4])
  end
end
