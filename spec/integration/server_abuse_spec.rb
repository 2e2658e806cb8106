# frozen_string_literal: true

# Clients that mean harm, or die: the server serves the others and keeps nothing of them.
RSpec.describe "The server under abuse" do
  let(:text) { Support::Dispatching::TEXT }

  # A handler that does everything slowly enough to be interrupted.
  def serve_all(options = {})
    serve(options) do |request|
      case request.path
      when "/wait" then sleep(5) && request.respond(200, text, "")
      when "/stream" then stream(request)
      when "/body" then request.respond(200, text, request.body.bytesize.to_s)
      else request.respond(200, text, "x" * 100_000)
      end
    rescue Fastr::RequestError => e
      request.respond(e.status, text, "")
    rescue Fastr::DisconnectedError
      request.abort
    end
  end

  def stream(request)
    request.start(200, text)
    loop do
      Fastr::Completion.await { |sink| request.drain(sink) } if request.write("x" * 10_000) > 65_536
      sleep 0.001
    end
  end

  def attack(port, random)
    socket = TCPSocket.open("127.0.0.1", port)
    bytes = [get("/wait"), get("/stream"), get("/") * 3,
             message("POST", "/body", {}, "x" * 200_000)].sample(random: random)
    socket.write_nonblock(bytes[0, random.rand(bytes.bytesize + 1)], exception: false)
    socket.read_nonblock(1_000, exception: false) if random.rand(3).zero?
    socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii")) if random.rand(2).zero?
    socket
  rescue SystemCallError, EOFError
    socket
  end

  it "forgets clients that disconnect in every phase, while the collector runs" do
    port = serve_all
    random = Random.new(42)
    open = []
    600.times do |index|
      open << attack(port, random)
      open.delete_at(random.rand(open.size)).close if open.size > 30
      GC.start if (index % 100).zero?
    end
    expect(ask(port, get).status).to eq(200)
    open.each(&:close)
    eventually(within: 10) { held == [0, 0, 0] }
    expect(handler.failures).to be_empty
    expect(ask(port, get).status).to eq(200)
  end

  it "takes thousands of connections that are opened and dropped" do
    port = serve_all
    descriptors = Dir.children("/proc/self/fd").size
    3_000.times { TCPSocket.open("127.0.0.1", port).close }
    expect(ask(port, get).status).to eq(200)
    eventually { held == [0, 0, 0] }
    expect(Dir.children("/proc/self/fd").size).to be_within(5).of(descriptors)
  end

  it "serves others while hundreds of clients drip" do
    port = serve_all("head_timeout" => 0.5)
    drips = Array.new(300) { TCPSocket.open("127.0.0.1", port) }
    5.times do |index|
      drips.each { |drip| drip.write_nonblock(get[index], exception: false) }
      expect(elapsed { expect(ask(port, get).status).to eq(200) }).to be < 1
    end
    eventually(within: 8) { server.stats[:connections].zero? }
    drips.each(&:close)
  end

  it "holds idle connections cheaply" do
    port = serve { |request| request.respond(200, text, "") }
    measure = -> { File.read("/proc/self/statm").split[1].to_i * 4 }
    before = measure.call
    idle = Array.new(400) do
      TCPSocket.open("127.0.0.1", port).tap do |socket|
        socket.write(message("HEAD", "/"))
        socket.readpartial(1_000)
      end
    end
    expect((measure.call - before) / 400).to be < 48 # KiB, both ends' objects counted
    idle.each(&:close)
    eventually { held == [0, 0, 0] }
  end

  it "keeps no memory of large answers on connections that live on" do
    port = serve { |request| request.respond(200, text, "x" * 3_000_000) }
    measure = -> { File.read("/proc/self/statm").split[1].to_i * 4 }
    sockets = Array.new(10) { TCPSocket.open("127.0.0.1", port) }
    exchange = lambda do
      sockets.each { |socket| socket.write(get) && Support::Wire::Reader.new(socket).answer }
      GC.start
      measure.call
    end
    first = exchange.call
    2.times { exchange.call }
    expect(exchange.call - first).to be < 30_000
    sockets.each(&:close)
  end
end
