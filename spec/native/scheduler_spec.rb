# frozen_string_literal: true

require "timeout"

RSpec.describe Fastr::Scheduler do
  include Support::Dispatching

  # Runs the blocks side by side in fibers of the dispatcher; gives their values.
  def together(*blocks)
    on_dispatcher do
      results = Thread::Queue.new
      blocks.flatten.each_with_index { |block, index| Fastr::Dispatcher.next_tick { results << [index, block.call] } }
      Array.new(blocks.flatten.size) { results.pop }.sort.map(&:last)
    end
  end

  it "lets sleeping fibers sleep side by side" do
    expect(elapsed { together(*Array.new(50) { -> { sleep 0.1 } }) }).to be < relaxed(1)
  end

  it "parks a fiber that pops an empty queue until another one pushes" do
    queue = Thread::Queue.new
    expect(together(-> { queue.pop }, -> { queue.push(7) && nil })).to eq([7, nil])
  end

  it "parks a fiber that pops a queue until another thread pushes" do
    queue = Thread::Queue.new
    Thread.new { sleep 0.02 and queue.push(:from_thread) }
    expect(on_dispatcher { queue.pop }).to eq(:from_thread)
  end

  it "parks a fiber that waits for a mutex" do
    mutex = Mutex.new
    order = []
    together(
      -> { mutex.synchronize { sleep(0.02) && order << 1 } },
      -> { mutex.synchronize { order << 2 } }
    )
    expect(order).to eq([1, 2])
  end

  it "lets sockets wait for each other in one thread" do
    server = TCPServer.new("127.0.0.1", 0)
    answer = together(
      -> { server.accept.tap { |socket| socket.write(socket.gets.upcase) }.close },
      -> { TCPSocket.open("127.0.0.1", server.addr[1]) { |socket| socket.puts("hello") || socket.read } }
    ).last
    expect(answer).to eq("HELLO\n")
  ensure
    server&.close
  end

  it "waits for child processes beside other fibers" do
    waits = Array.new(3) { -> { Process.wait2(Process.spawn("sleep", "0.2")).last.success? } }
    seconds = elapsed do
      statuses = together(*waits)
      expect(statuses).to eq([true, true, true])
    end
    expect(seconds).to be < relaxed(1.5)
  end

  it "looks host names up" do
    expect(on_dispatcher { Addrinfo.tcp("localhost", 80).ip_address }).to match(/127\.0\.0\.1|::1/)
  end

  it "ends a block that takes longer than Timeout allows" do
    expect { on_dispatcher { Timeout.timeout(0.02) { sleep 10 } } }.to raise_error(Timeout::Error)
    expect(on_dispatcher { Timeout.timeout(1) { sleep(0.01) && :done } }).to eq(:done)
  end

  it "gives up on a queue after its limit" do
    reader, writer = IO.pipe
    expect(on_dispatcher { reader.wait_readable(0.01) }).to be_nil
    writer.close # held until here: a collected writer makes the reader readable
  end

  it "runs a scheduled fiber until it waits, then its caller" do
    order = []
    on_dispatcher do
      done = Thread::Queue.new
      Fiber.schedule do
        order << 1
        sleep 0.01
        order << 3
        done << true
      end
      order << 2
      done.pop
    end
    expect(order).to eq([1, 2, 3])
  end
end
