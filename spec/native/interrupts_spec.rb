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
