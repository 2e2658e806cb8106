# frozen_string_literal: true

RSpec.describe "fork" do
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
end
