# frozen_string_literal: true

# What must not grow however long a process serves.
RSpec.describe "Memory", limit: 300 do
  include Support::Dispatching

  # A hundredth of the work when the collector runs at every allocation.
  let(:count) { ENV["FASTR_GC"] ? 300 : 30_000 }

  def tables
    dispatcher = Fastr::Dispatcher.instance
    %i[@pending @early @waiting @closers @ticks @inbox].sum { |name| dispatcher.instance_variable_get(name).size }
  end

  def lanes
    GC.start unless ENV["FASTR_GC"]
    ObjectSpace.each_object(Fastr::Lane).count
  end

  def growing_by
    before = on_dispatcher { [tables, lanes] }
    yield
    eventually { Fastr::Native.stats[:operations].zero? }
    after = on_dispatcher { [tables, lanes] }
    before.zip(after).map { |first, second| second - first }
  end

  it "does not grow with completions, awaited, called back, cancelled and late" do
    growth = growing_by do
      on_dispatcher do
        (count / 5).times do |number|
          Fastr::Completion.await { |sink| Fastr::Native.resolve(sink, "127.0.0.1") }
          Fastr::Completion.start { |sink| Fastr::Native.timer(sink, 0) }.callback { nil }
          Fastr::Completion.start { |sink| Fastr::Native.timer(sink, 60) }.cancel
          Fastr::Completion.start { |sink| Fastr::Native.timer(sink, 0) }.timeout(60) if (number % 10).zero?
          begin
            Fastr::Completion.await(limit: 0) { |sink| Fastr::Native.timer(sink, 60) } if (number % 10).zero?
          rescue Fastr::TimeoutError
            nil
          end
        end
        sleep 0.01
      end
    end
    expect(growth).to match([be < 20, be < 300])
  end

  it "does not grow with timers, ticks, channels and blocked fibers" do
    growth = growing_by do
      on_dispatcher do
        channel = Fastr::Channel.new
        queue = Thread::Queue.new
        (count / 5).times do
          Fastr::Timer.new(60) { nil }.cancel
          Fastr::Timer.new(0) { nil }
          Fastr::Dispatcher.next_tick { queue << 1 }
          queue.pop
          channel.unsubscribe(channel.subscribe { nil })
          Timeout.timeout(60) { nil }
        end
      end
    end
    expect(growth).to match([be < 20, be < 300])
  end

  it "does not grow with requests, answered, watched, failed and left" do
    port = serve do |request|
      Fastr::Dispatcher.on_closed(request) { nil }
      sleep 0.0001 if request.path == "/waits"
      raise "on purpose" if request.path == "/fails"

      request.respond(200, Support::Dispatching::TEXT, "fine")
    end
    growth = growing_by do
      4.times do
        connection(port) do |socket|
          (count / 100).times do
            %w[/ /waits /fails].each { |path| socket.write("GET #{path} HTTP/1.1\r\nHost: a\r\n\r\n") }
            3.times do
              length = 0
              while (line = socket.gets) && line != "\r\n"
                length = line[/\d+/].to_i if line.downcase.start_with?("content-length")
              end
              socket.read(length)
            end
          end
        end
      end
      20.times { connection(port) { |socket| socket.write("GET /waits HTTP/1.1\r\nHost: a\r\n\r\n") } }
      eventually { server.stats[:connections].zero? && server.stats[:in_flight].zero? }
    end
    expect(growth).to match([be < 20, be < 300])
  end
end
