# frozen_string_literal: true

RSpec.describe "fork", gc: false do
  it "before the reactor starts leaves each process its own" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      pid = fork { Fastr::Reactor.run { Fastr::Reactor.add_timer(0.01) { puts "child"; Fastr::Reactor.stop } } }
      Process.wait(pid)
      Fastr::Reactor.run { Fastr::Reactor.add_timer(0.01) { puts "parent"; Fastr::Reactor.stop } }
    RUBY
    expect(output).to eq("child\nparent\n")
  end

  it "with a running reactor gives the child a new one and leaves the parent's alone" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      thread = Thread.new { Fastr::Reactor.run }
      sleep 0.01 until Fastr::Reactor.reactor_running?
      pid = fork do
        puts Fastr::Reactor.reactor_running?
        Fastr::Reactor.run { Fastr::Reactor.add_timer(0.01) { puts "child"; Fastr::Reactor.stop } }
      end
      Process.wait(pid)
      Fastr::Reactor.add_timer(0.01) { puts "parent"; Fastr::Reactor.stop }
      thread.join
    RUBY
    expect(output).to eq("false\nchild\nparent\n")
  end

  it "in a callback leaves the child able to wait without a dispatcher" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      Fastr::Reactor.run do
        pid = fork do
          Fastr::Completion.await { |sink| Fastr::Native.timer(sink, 0.01) }
          $stdout.syswrite("child waited\n")
          exit!(0)
        end
        Process.wait(pid)
        Fastr::Reactor.stop
      end
    RUBY
    expect(output).to eq("child waited\n")
  end

  # What SQLite's threads hold at that moment nobody gives back in the child.
  it "leaves the child the database file that others work on", limit: 60 do
    Dir.mktmpdir do |folder|
      output, = run_ruby(<<~RUBY)
        require "async_record"
        url = "sqlite:#{folder}/app.db"
        database = AsyncRecord.connect(url, size: 4)
        4.times { Thread.new { loop { database.query("select 1 as one") } } }
        ended = Array.new(60) do
          sleep 0.005
          pid = fork { exit!(AsyncRecord.connect(url).query("select 1 as one").size == 1) }
          watch = Thread.new { sleep 10; Process.kill(:KILL, pid) }
          Process.wait2(pid).last.success?.tap { watch.kill.join }
        end
        puts ended.uniq.inspect
      RUBY
      expect(output).to eq("[true]\n")
    end
  end

  it "waits for a statement that runs no longer than for its next look" do
    output, = run_ruby(<<~RUBY)
      require "async_record"
      counting = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000000) select max(i) from n"
      database = AsyncRecord.connect("sqlite::memory:")
      database.query("select 1")
      thread = Thread.new { database.query(counting).first.values }
      sleep 0.05
      since = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      Process.wait(fork { exit!(0) })
      puts Process.clock_gettime(Process::CLOCK_MONOTONIC) - since < 0.9, thread.value.inspect
    RUBY
    expect(output).to eq("true\n[2000000]\n")
  end

  it "waits for a dispatcher that is busy, but not for long" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      clock = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
      dispatcher = Fastr::Dispatcher.instance
      dispatcher.ensure_running
      started = Thread::Queue.new
      [0.2, 2.5].each do |seconds|
        dispatcher.next_tick(-> { started.push(true); finish = clock.call + seconds; nil until clock.call > finish })
        started.pop
        since = clock.call
        Process.wait(fork { GC.start })
        puts [$?.success?, (clock.call - since).between?(seconds / 4, 2)].inspect
      end
      answer = Thread::Queue.new
      dispatcher.next_tick(-> { answer.push("goes on") })
      puts answer.pop
    RUBY
    expect(output).to eq("[true, true]\n[true, true]\ngoes on\n")
  end

  it "inside a request handler leaves the request to the parent, and the child can end like any process" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      require "net/http"
      $stdout.sync = true
      runner = nil
      app = lambda do |env|
        pid = fork do
          begin
            env["fastr.request"].respond(200, {}, "from the child")
          rescue Fastr::ReactorError => error
            puts error.message
          end
          sleep 0.01
          Mutex.new.synchronize { Thread.new { sleep 0.01 }.join }
          puts "child"
        end
        Process.wait(pid)
        [200, {}, ["parent, child \#{$?.success?}"]]
      end
      Fastr.run(app, port: 0, quiet: true) do |runner|
        2.times { puts Net::HTTP.get(URI(runner.url)) }
        runner.stop
      end
    RUBY
    told = "this request belongs to the parent process; use it there\nchild\n"
    expect(output).to eq("#{told}parent, child true\n" * 2)
  end

  it "without a block inside a request handler ends the child's loop with the handler" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      require "net/http"
      $stdout.sync = true
      parent = Process.pid
      app = lambda do |env|
        next [200, {}, ["in the child"]] unless fork
        sleep 0.05
        [200, {}, ["in the parent"]]
      end
      begin
        Fastr.run(app, port: 0, quiet: true) do |runner|
          puts Net::HTTP.get(URI(runner.url))
          runner.stop
        end
      ensure
        puts "the parent ended" if Process.pid == parent
      end
      Process.wait
    RUBY
    expect(output).to include("in the parent\nthe parent ended\n")
    expect(output).not_to include("in the child")
  end

  it "by IO.popen and in a callback gives the child a reactor of its own" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      Fastr::Reactor.run do
        child = IO.popen("-")
        unless child
          Fastr::Reactor.run { Fastr::Reactor.add_timer(0.01) { puts "child"; Fastr::Reactor.stop } }
          exit!(0) unless $stdout.flush.nil?
        end
        puts child.read
        Fastr::Reactor.add_timer(0.01) { puts "parent"; Fastr::Reactor.stop }
      end
    RUBY
    expect(output).to eq("child\nparent\n")
  end

  it "by Process.daemon leaves the daemon a working reactor" do
    reader, writer = IO.pipe
    program = <<~RUBY
      require "fastr"
      Fastr::Completion.await { |sink| Fastr::Native.timer(sink, 0) }
      Process.daemon(true, true)
      Fastr::Reactor.run { Fastr::Reactor.add_timer(0.01) { puts "daemon"; Fastr::Reactor.stop } }
    RUBY
    Process.wait(Process.spawn(RbConfig.ruby, "-I", Support::Processes::LIBRARY, "-e", program, out: writer))
    writer.close
    expect(reader.read).to eq("daemon\n")
  end

  it "keeps what was set, and an inherited timer cancels nothing of the child's" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      Fastr::Reactor.error_handler { |error| puts error.message }
      inherited = Array.new(20) { Fastr::Timer.new(60) {} }
      pid = fork do
        Fastr::Reactor.run do
          20.times { |number| Fastr::Timer.new(0.02) { print number, " " } }
          inherited.each(&:cancel)
          Fastr::Reactor.next_tick { raise "handled" }
          Fastr::Reactor.add_timer(0.05) { Fastr::Reactor.stop }
        end
      end
      Process.wait(pid)
    RUBY
    expect(output).to eq("handled\n#{(0...20).map { |number| "#{number} " }.join}")
  end

  it "with deferred operations under way leaves the child none to wait for" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      hold = Thread::Queue.new
      Fastr::Reactor.run do
        Fastr::Reactor.defer(-> { hold.pop })
        Process.wait(fork { puts Fastr::Reactor.defers_finished? })
        puts Fastr::Reactor.defers_finished?
        hold << true
        Fastr::Reactor.add_timer(0.05) { puts(Fastr::Reactor.defers_finished?) || Fastr::Reactor.stop }
      end
    RUBY
    expect(output).to eq("true\nfalse\ntrue\n")
  end
end
