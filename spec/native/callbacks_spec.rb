# frozen_string_literal: true

# What user code may do in a callback that ends it early, at every place where callbacks run.
RSpec.describe "A callback", limit: ENV["FASTR_GC"] ? 300 : 5 do
  include Support::Dispatching

  # How code ends early, and what comes of it: the error class that is reported, or nil.
  endings = {
    "raises" => [-> { raise ArgumentError, "on purpose" }, ArgumentError],
    "throws" => [-> { throw :nowhere }, UncaughtThrowError],
    "raises what is no StandardError" => [-> { raise NotImplementedError }, NotImplementedError],
    "overflows the stack" => [->(*) { Support::Endings.deep(1) }, SystemStackError],
    "says break" => [Support::Endings.breaking, LocalJumpError],
    "says return" => [Support::Endings.returning, LocalJumpError],
    "says next" => [Support::Endings.nexting, nil],
    "ends in a fiber of its own" => [-> { Fiber.new { raise IOError }.resume }, IOError],
    "ends in an enumerator" => [-> { Enumerator.new { |_| raise IOError }.next }, IOError],
    "raises after it waited" => [-> { sleep(0.001) && raise(IOError) }, IOError]
  }

  # What is left out says nothing about values that native code holds.
  endings.select! { |ending, _| ["raises", "raises after it waited"].include?(ending) } if ENV["FASTR_GC"]

  # Where callbacks run: each starts one that calls the block.
  places = {
    "of a tick" => ->(block) { Fastr::Dispatcher.next_tick { block.call } },
    "of a timer" => ->(block) { Fastr::Timer.new(0) { block.call } },
    "of a periodic timer" => lambda do |block|
      timer = Fastr::PeriodicTimer.new(0.001) do
        timer.cancel
        block.call
      end
    end,
    "of a completion" => lambda do |block|
      Fastr::Completion.start { |sink| Fastr::Native.timer(sink, 0) }.callback { block.call }
    end,
    "for a completion's error" => lambda do |block|
      Fastr::Completion.start { |sink| Fastr::Native.resolve(sink, "no such host.") }.errback { block.call }
    end,
    "of a channel" => ->(block) { Fastr::Channel.new.tap { |channel| channel.subscribe { block.call } }.push(1) },
    "of a channel, on the dispatcher" => lambda do |block|
      Fastr::Dispatcher.next_tick { Fastr::Channel.new.tap { |channel| channel.subscribe { block.call } }.push(1) }
    end,
    "after a deferred operation" => ->(block) { Fastr::Reactor.defer(-> {}, ->(_) { block.call }) },
    "after a failed deferred operation" => lambda do |block|
      Fastr::Reactor.defer(-> { raise "x" }, nil, ->(_) { block.call })
    end,
    "of a deferrable" => lambda do |block|
      Fastr::Dispatcher.next_tick { Fastr::DefaultDeferrable.new.callback { block.call }.succeed }
    end,
    "scheduled as a fiber" => ->(block) { Fastr::Dispatcher.next_tick { Fiber.schedule { block.call } } }
  }

  # The errors that reach the reactor's handler while the block runs.
  def reported
    errors = Thread::Queue.new
    Fastr::Dispatcher.instance.error_handler = ->(error) { errors << error }
    yield
    on_dispatcher { sleep 0.005 }
    eventually { !errors.empty? } if @expected
    Array.new(errors.size) { errors.pop }
  ensure
    Fastr::Dispatcher.instance.error_handler = nil
  end

  places.each do |place, start|
    endings.each do |ending, (code, error)|
      it "#{place} that #{ending} is reported and stops nothing" do
        @expected = error
        on_dispatcher { nil }
        before = Fastr::Dispatcher.instance.thread
        ran = Thread::Queue.new
        errors = reported do
          start.call(-> { ran << true && code.call })
          ran.pop
        end
        expect(errors.map(&:class)).to eq([error].compact)
        expect(on_dispatcher { Thread.current }).to equal(before)
      end
    end
  end

  it "inside a deferred operation may return, break or raise: the errback gets what is an error" do
    results = Thread::Queue.new
    operations = { "raises" => -> { raise ArgumentError }, "throws" => -> { throw :nowhere },
                   "says break" => Support::Endings.breaking, "says return" => Support::Endings.returning,
                   "says next" => Support::Endings.nexting }
    operations.each do |name, code|
      Fastr::Reactor.defer(code, ->(_) { results << [name, nil] }, ->(error) { results << [name, error.class] })
    end
    on_dispatcher { nil }
    expect(Array.new(operations.size) { results.pop }.to_h).to eq(
      "raises" => ArgumentError, "throws" => UncaughtThrowError, "says break" => LocalJumpError,
      "says return" => nil, "says next" => nil
    )
  end

  it "that raises takes nobody else's turn in the batch" do
    seen = []
    errors = nil
    on_dispatcher do
      errors = reported do
        20.times { |number| Fastr::Dispatcher.next_tick { number.odd? ? raise(number.to_s) : seen << number } }
      end
    end
    expect([seen, errors.map(&:message)]).to eq([(0..19).select(&:even?), (0..19).select(&:odd?).map(&:to_s)])
  end

  it "that closes after the client left is called for each watcher, though the first one raises" do
    called = Thread::Queue.new
    port = serve do |request|
      Fastr::Dispatcher.on_closed(request) { called << 1 && raise("on purpose") }
      Fastr::Dispatcher.on_closed(request) { called << 2 }
      request.start(200, Support::Dispatching::TEXT)
      sleep
    end
    errors = reported do
      connection(port) { |socket| socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n") && socket.readpartial(20) }
      expect([called.pop, called.pop]).to eq([1, 2])
    end
    expect(errors.map(&:message)).to eq(["on purpose"])
  end

  it "that closes is called when the client has left before anybody asked" do
    called = Thread::Queue.new
    port = serve do |request|
      Fastr::Completion.await { |sink| Fastr::Native.timer(sink, 60) }
    rescue Fastr::DisconnectedError
      Fastr::Dispatcher.on_closed(request) { called << :late }
    end
    connection(port) do |socket|
      socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      eventually { server.stats[:in_flight] == 1 }
    end
    expect(called.pop).to eq(:late)
  end

  endings.each do |ending, (code, error)|
    it "that is a request handler and #{ending} fails its request and no other" do
      port = serve do |request|
        code.call if request.path == "/end"
        request.respond(200, Support::Dispatching::TEXT, "fine")
      end
      expect(http(port, "/end").code).to eq(error ? "500" : "200")
      expect(http(port, "/").body).to eq("fine")
      expect(handler.failures.map(&:class)).to eq([error].compact)
    end
  end

  it "that is a request handler and calls exit fails its request, and the process lives" do
    port = serve { |request| request.path == "/exit" ? exit : request.respond(200, Support::Dispatching::TEXT, "fine") }
    expect(http(port, "/exit").code).to eq("500")
    expect(http(port, "/").body).to eq("fine")
    expect(handler.failures.map(&:class)).to eq([SystemExit])
  end

  { "Reactor.next_tick { exit 7 }" => "a tick", "Reactor.add_timer(0.01) { exit 7 }" => "a timer",
    "Reactor.add_periodic_timer(0.01) { exit 7 }" => "a periodic timer",
    "Completion.start { |s| Native.timer(s, 0) }.callback { exit 7 }" => "a completion",
    "Channel.new.tap { |c| c.subscribe { exit 7 } }.push(1)" => "a channel",
    "Reactor.defer(-> {}, ->(_) { exit 7 })" => "a deferred callback",
    "Reactor.error_handler { exit 7 }; Fastr::Reactor.next_tick { raise 'x' }" => "the error handler",
    "Reactor.next_tick { Fiber.schedule { exit 7 } }" => "a scheduled fiber",
    "Reactor.next_tick { sleep 0.01; exit 7 }" => "a fiber that waited" }.each do |code, place|
    it "that calls exit in #{place} ends the program with its status", gc: false do
      _, status = run_ruby("require 'fastr'; include Fastr; Fastr::Reactor.run { Fastr::#{code} }")
      expect(status.exitstatus).to eq(7)
    end
  end

  it "that is the error handler and raises ends run with its own error", gc: false do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      Fastr::Reactor.error_handler { |error| raise IOError, "handling \#{error.message}" }
      begin
        Fastr::Reactor.run { Fastr::Reactor.next_tick { raise "first" } }
      rescue IOError => error
        puts error.message, error.cause.message
      end
      Fastr::Reactor.run { puts "again"; Fastr::Reactor.stop }
    RUBY
    expect(output).to eq("handling first\nfirst\nagain\n")
  end

  it "that is a request's own failure handling and raises is reported, and the loop goes on" do
    port = serve { |request| request.path == "/" ? request.respond(200, {}, "fine") : raise("x") }
    def handler.failed(*)
      raise IOError, "the log is full"
    end
    @expected = IOError
    errors = reported do
      connection(port) do |socket|
        socket.write("GET /raise HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually { server.stats[:in_flight] == 1 }
      end
      expect(http(port, "/").body).to eq("fine")
    end
    expect(errors.map(&:class)).to eq([IOError])
  end

  it "that blocks is interrupted by Thread#raise where it is, and the loop goes on with its error handler", gc: false do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      ready = Thread::Queue.new
      thread = Thread.new do
        Fastr::Reactor.error_handler { |error| puts error.message }
        Fastr::Reactor.run { ready << true; loop { nil } }
      end
      ready.pop
      thread.raise(IOError, "interrupted")
      Fastr::Reactor.next_tick { puts "goes on"; Fastr::Reactor.stop }
      thread.join
    RUBY
    expect(output).to eq("interrupted\ngoes on\n")
  end

  it "that is killed ends run, runs ensure and leaves the dispatcher usable", gc: false do
    output, = run_ruby(<<~RUBY)
      require "fastr"
      ready = Thread::Queue.new
      thread = Thread.new do
        Fastr::Reactor.run do
          ready << true
          loop { nil }
        ensure
          puts "ensured"
        end
      end
      ready.pop
      thread.kill.join
      puts Fastr::Reactor.reactor_running?
      Fastr::Reactor.run { Fastr::Reactor.add_timer(0.01) { puts "again"; Fastr::Reactor.stop } }
    RUBY
    expect(output).to eq("ensured\nfalse\nagain\n")
  end
end
