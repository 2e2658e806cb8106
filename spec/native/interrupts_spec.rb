# frozen_string_literal: true

RSpec.describe "Interrupts" do
  it "end a thread that waits for the queue" do
    output, status = run_ruby(<<~RUBY)
      require "fastr"
      thread = Thread.new { Fastr::Reactor.run }
      sleep 0.01 until Fastr::Reactor.reactor_running?
      sleep 0.05
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      thread.kill
      thread.join(5) or abort "not killed"
      abort "slow" if Process.clock_gettime(Process::CLOCK_MONOTONIC) - started > 0.5
      puts Fastr::Reactor.reactor_running?
    RUBY
    expect([output, status.success?]).to eq(["false\n", true])
  end

  it "raise in a thread that waits for the queue" do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      thread = Thread.new { Fastr::Reactor.run }
      thread.report_on_exception = false
      sleep 0.01 until Fastr::Reactor.reactor_running?
      thread.raise(ArgumentError, "stop it")
      begin
        thread.join(5)
      rescue ArgumentError => e
        puts e.message
      end
    RUBY
    expect(output).to eq("stop it\n")
  end

  it "end a thread that waits for one operation" do
    thread = Thread.new { Fastr::Completion.await { |sink| Fastr::Native.timer(sink, 60) } }
    sleep 0.02
    expect(elapsed { thread.kill.join(5) }).to be < relaxed(1)
    expect { Timeout.timeout(0.05) { Fastr::Completion.await { |sink| Fastr::Native.timer(sink, 60) } } }
      .to raise_error(Timeout::Error)
    eventually { Fastr::Native.stats[:operations].zero? }
  end

  describe "that arrive while a value is converted" do
    def converting
      database = memory_database
      database.await("create table lists (list json)")
      database.await("insert into lists values ('[1]')")
      rows = database.await("select list from lists")
      allow(JSON).to(receive(:parse).and_wrap_original { |parse, *given| sleep(0.2) && parse.call(*given) })
      -> { rows.row(0) }
    end

    def interrupted
      work = converting
      outcome = Thread::Queue.new
      thread = Thread.new do
        work.call
        outcome << :survived
      rescue StandardError => error
        outcome << error.message
      ensure
        outcome << :ended
      end
      sleep 0.05
      yield thread
      thread.join(5)
      outcome.pop
    end

    it "kill the thread" do
      expect(interrupted(&:kill)).to eq(:ended)
    end

    it "raise in the thread" do
      expect(interrupted { |thread| thread.raise("stop it") }).to eq("stop it")
    end

    it "throw out of it" do
      work = converting
      allow(JSON).to(receive(:parse) { throw :out, :thrown })
      expect(catch(:out) { work.call }).to eq(:thrown)
    end

    it "come out of the bind they interrupt", :aggregate_failures do
      database = memory_database
      [[Time.now, :to_i], [Date.new(2026), :year]].each do |value, reader|
        value.define_singleton_method(reader) { sleep(0.2) && super() }
        thread = Thread.new { database.pool.query(Fastr::Waiter.new, "select ?", [value], {}) }
        thread.report_on_exception = false
        sleep 0.05
        thread.raise("stop it")
        expect { thread.value }.to raise_error(RuntimeError, "stop it")
      end
    end

    # Errors are made by Ruby code, in which the loop's thread can be interrupted.
    it "leave the rest of the batch for the next run", gc: false do
      output, = run_ruby(<<~RUBY)
        require "fastr"
        require "async_record"
        database = AsyncRecord.connect("sqlite::memory:")
        def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        begun = done = 0
        AsyncRecord::QueryError.prepend(Module.new do
          define_method(:initialize) do |*arguments, **options|
            begun += 1
            finish = clock + 0.002
            nil while clock < finish
            super(*arguments, **options)
          end
        end)
        first = Thread.new do
          Thread.current.report_on_exception = false
          Fastr::Reactor.run do
            100.times do
              failing = Fastr::Completion.start { |sink| database.pool.query(sink, "select nope", [], {}) }
              failing.errback { done += 1 }
            end
          end
        end
        sleep 0.001 until begun > done
        first.raise("stop it")
        begin
          first.join(10) and puts "never raised"
        rescue RuntimeError => error
          puts error.message
        end
        Fastr::Reactor.run { Fastr::Reactor.add_periodic_timer(0.01) { Fastr::Reactor.stop if done == 100 } }
        puts done
      RUBY
      expect(output).to eq("stop it\n100\n")
    end
  end

  arrangements = {
    "the reactor on the main thread" => "Fastr::Reactor.run",
    "the reactor in a thread, main in join" => "Thread.new { Fastr::Reactor.run }.join",
    "the reactor on main after another thread ended" => "Thread.new {}.join; Fastr::Reactor.run",
    "the reactor on main beside a sleeping thread" => "Thread.new { sleep }; Fastr::Reactor.run",
    "the reactor in a thread, main asleep" => "Thread.new { Fastr::Reactor.run }; sleep"
  }
  arrangements.each do |name, code|
    %w[INT TERM].each do |signal|
      it "#{signal} ends a program with #{name}", gc: false do
        reader, writer = IO.pipe
        program = "require 'fastr'; Fastr::Reactor.next_tick { $stdout.write('r'); $stdout.flush }; #{code}"
        pid = Process.spawn(RbConfig.ruby, "-I", Support::Processes::LIBRARY, "-e", program, out: writer,
                                                                                             err: File::NULL)
        writer.close
        reader.read(1)
        Process.kill(signal, pid)
        expect(eventually { Process.wait(pid, Process::WNOHANG) }).to eq(pid)
      end
    end
  end

  it "do not keep a program with requests in flight from its end" do
    output, status = run_ruby(<<~RUBY)
      require "fastr"
      5.times { Fastr::Completion.start { |sink| Fastr::Native.timer(sink, 60) } }
      at_exit { puts "at_exit" }
    RUBY
    expect([output, status.success?]).to eq(["at_exit\n", true])
  end

  { "raise 'x'" => "RuntimeError", "throw :nowhere" => "UncaughtThrowError",
    "exit 3" => "SystemExit" }.each do |code, error|
    it "a callback's #{code} comes out of run", gc: false do
      output, = run_ruby(<<~RUBY)
        require "fastr"
        begin
          Fastr::Reactor.run { Fastr::Reactor.add_timer(0.01) { #{code} } }
        rescue Exception => e
          puts e.class
        end
        Fastr::Reactor.run { Fastr::Reactor.add_timer(0.01) { puts "again"; Fastr::Reactor.stop } }
      RUBY
      expect(output).to eq("#{error}\nagain\n")
    end
  end
end
