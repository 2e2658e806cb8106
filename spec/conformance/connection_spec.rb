# frozen_string_literal: true

# RFC 9112 section 9: connections, what they may hold of the server, and how long.
RSpec.describe "HTTP/1.1 connections" do
  let(:text) { Support::Dispatching::TEXT }

  def closes_after(port, bytes)
    talk(port) do |socket, reader|
      socket.write(bytes)
      elapsed { reader.rest }
    end
  end

  describe "persistence (9.3)" do
    it "keeps a connection for any number of requests" do
      port = serve_echo
      talk(port) do |socket, reader|
        200.times do |index|
          socket.write(get("/#{index}"))
          expect(reader.answer.body).to eq("GET /#{index} ")
        end
      end
    end

    ["close", "Close", "x, close"].each do |value|
      it "closes after Connection: #{value}, and says so" do
        port = serve_echo
        expect(ask_last(port, get("/", Connection: value))["connection"]).to eq("close")
      end
    end

    it "closes when the application says so" do
      port = serve { |request| request.respond(200, { "connection" => "close" }, "x") }
      expect(ask_last(port, get)["connection"]).to eq("close")
    end

    it "closes HTTP/1.0 when the application says so, and says nothing else" do
      port = serve { |request| request.respond(200, { "connection" => "close" }, "x") }
      expect(ask_last(port, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")["connection"]).to eq("close")
    end

    it "closes after HTTP/1.0, and keeps the connection that asks for it" do
      port = serve_echo
      ask_last(port, "GET / HTTP/1.0\r\n\r\n")
      talk(port) do |socket, reader|
        2.times do
          socket.write("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
          expect(reader.answer["connection"]).to eq("keep-alive")
        end
      end
    end
  end

  describe "pipelining (9.3.2)" do
    it "answers in the order of the requests, whichever is ready first" do
      port = serve do |request|
        sleep(0.05) if request.path == "/0"
        request.respond(200, text, request.path)
      end
      talk(port) do |socket, reader|
        socket.write(Array.new(100) { |index| get("/#{index}") }.join)
        expect(Array.new(100) { reader.answer.body }).to eq(Array.new(100) { |index| "/#{index}" })
      end
    end

    it "gives the application one request of a connection at a time" do
      running = peak = 0
      port = serve do |request|
        peak = [peak, running += 1].max
        sleep 0.001
        running -= 1
        request.respond(200, text, "")
      end
      talk(port) do |socket, reader|
        socket.write(get * 30)
        30.times { reader.answer }
      end
      expect(peak).to eq(1)
    end

    it "makes no answers for a client that reads none" do
      made = 0
      port = serve { |request| (made += 1) && request.respond(200, text, "x" * 300_000) }
      talk(port) do |socket, _|
        socket.write(get * 150)
        eventually { made >= 1 }
        before = -1
        eventually { before == (before = made) || (sleep(0.05) && false) }
        expect(made).to be < 40
      end
    end

    it "ignores what follows a request that closes" do
      port = serve_echo
      talk(port) do |socket, reader|
        socket.write(get("/", Connection: "close") + get("/2"))
        expect(reader.answer.status).to eq(200)
        expect(reader).to be_ended
      end
    end
  end

  describe "half-closed" do
    it "answers a client that closed its sending side, also several requests" do
      port = serve do |request|
        sleep 0.05
        request.respond(200, text, request.path)
      end
      answer = raw(port, get("/1") + get("/2"), half_close: true)
      expect(answer).to include("/1").and include("/2")
    end

    it "gives a large answer whole" do
      port = serve { |request| request.respond(200, text, "x" * 3_000_000) }
      expect(raw(port, get, half_close: true).bytesize).to be > 3_000_000
    end

    it "takes it for gone after a second" do
      errors = Thread::Queue.new
      port = serve do |request|
        Fastr::Dispatcher.on_closed(request) { errors << :closed }
        sleep 20
      end
      seconds = elapsed { expect(raw(port, get, half_close: true)).to eq("") }
      expect(seconds).to be_between(0.9, 3)
      expect(errors.pop).to eq(:closed)
    end
  end

  describe "timers" do
    it "closes a connection that sends nothing, without a word" do
      port = serve_echo("keep_alive_timeout" => 0.1)
      talk(port) { |_, reader| expect(elapsed { expect(reader).to be_ended }).to be_between(0.08, 2) }
    end

    it "closes an idle connection after its last answer, small or large" do
      port = serve("keep_alive_timeout" => 0.15) { |request| request.respond(200, text, "x" * request.path[1..].to_i) }
      [1, 3_000_000].each do |size|
        talk(port) do |socket, reader|
          socket.write(get("/#{size}"))
          expect(reader.answer.body.bytesize).to eq(size)
          expect(elapsed { expect(reader).to be_ended }).to be < 2
        end
      end
    end

    it "lets no timer run while the application works" do
      port = serve("keep_alive_timeout" => 0.05, "head_timeout" => 0.05, "body_timeout" => 0.05) do |request|
        sleep 0.3
        request.respond(200, text, "patient")
      end
      expect(ask(port, get).body).to eq("patient")
      expect(ask(port, message("POST", "/", {}, "x")).body).to eq("patient")
    end

    it "answers 408 to a head that does not end" do
      port = serve_echo("head_timeout" => 0.1)
      answer = ask_last(port, "GET / HTTP/1.1\r\nHost: a\r\n")
      expect([answer.status, answer["connection"]]).to eq([408, "close"])
    end

    it "answers 408 to a head that drips, however steadily (slowloris)" do
      port = serve_echo("head_timeout" => 0.3)
      talk(port) do |socket, reader|
        dripping = Thread.new do
          get("/", X: "a" * 1_000).each_char { |byte| socket.write(byte) && sleep(0.01) }
        rescue SystemCallError
          nil
        end
        expect(elapsed { expect(reader.answer.status).to eq(408) }).to be < 2
        dripping.kill.join
      end
    end

    it "answers 408 to the dripping head of a second request" do
      port = serve_echo("head_timeout" => 0.2)
      talk(port) do |socket, reader|
        socket.write(get)
        expect(reader.answer.status).to eq(200)
        "GET / HTTP/1.1".each_char { |byte| send_all(socket, byte) && sleep(0.03) }
        expect(reader.answer.status).to eq(408)
      end
    end

    [100, 100_000].each do |length|
      it "ends a body of #{length} bytes that stops coming with 408" do
        port = serve_echo("body_timeout" => 0.1, "linger" => 0.1)
        talk(port) do |socket, reader|
          socket.write(message("POST", "/", { "Content-Length" => length }, "abc"))
          status = reader.answer.status
          expect(status == 408 || handler.failures.map(&:status) == [408]).to be(true)
          expect(reader).to be_ended
        end
      end
    end

    it "ends a body that drips below the rate" do
      port = serve_echo("body_rate" => 1_000, "body_grace" => 0.1, "linger" => 0.1)
      talk(port) do |socket, reader|
        dripping = Thread.new do
          socket.write(message("POST", "/", "Content-Length" => 1_000))
          loop { socket.write("x") && sleep(0.05) }
        rescue SystemCallError
          nil
        end
        expect(reader.answer.status).to eq(408)
        dripping.join
      end
    end

    it "counts no time against a body that the application does not ask for" do
      port = serve("body_rate" => 1_000_000, "body_grace" => 0.1, "body_timeout" => 0.3) do |request|
        pieces = Array.new(3) do
          sleep 0.4
          Fastr::Completion.await { |sink| request.body_read(sink, 100_000) }.bytesize
        end
        rest = request.body_buffered || Fastr::Completion.await { |sink| request.body_all(sink, nil) }
        request.respond(200, text, (pieces.sum + rest.bytesize).to_s)
      end
      expect(ask(port, message("POST", "/", {}, "x" * 200_000)).body).to eq("200000")
    end

    it "cuts a client that takes nothing of its answer" do
      port = serve("write_timeout" => 0.2) { |request| request.respond(200, text, "x" * 20_000_000) }
      connection(port) do |socket|
        socket.write(get)
        eventually { server.stats[:connections] == 1 }
        eventually { server.stats[:connections].zero? }
      end
    end

    it "cuts a client that takes nothing of a stream, and tells the application" do
      errors = Thread::Queue.new
      port = serve("write_timeout" => 0.2) do |request|
        request.start(200, text)
        loop { Fastr::Completion.await { |sink| request.drain(sink) } if request.write("x" * 65_536) > 262_144 }
      rescue Fastr::DisconnectedError => e
        errors << e
      end
      connection(port) do |socket|
        socket.write(get)
        expect(errors.pop).to be_a(Fastr::DisconnectedError)
      end
    end

    it "answers 503 when the application gives no answer in time, and frees the slot" do
      cancelled = Thread::Queue.new
      port = serve("handler_timeout" => 0.1, "max_in_flight" => 1) do |request|
        request.path == "/slow" ? sleep(30) : request.respond(200, text, "fine")
      rescue Fastr::DisconnectedError => e
        cancelled << e
      end
      talk(port) do |socket, reader|
        socket.write(get("/slow"))
        answer = reader.answer
        expect([answer.status, answer["retry-after"]]).to eq([503, "1"])
        expect(cancelled.pop).to be_a(Fastr::DisconnectedError)
        socket.write(get("/"))
        expect(reader.answer.body).to eq("fine")
      end
    end
  end

  describe "limits" do
    it "answers 503 and Retry-After beyond max_in_flight, and serves again when there is room" do
      gate = Thread::Queue.new
      port = serve("max_in_flight" => 2) { |request| gate.pop && request.respond(200, text, "") }
      talk(port) do |socket, reader|
        waiting = Array.new(2) { Thread.new { ask(port, get).status } }
        eventually { server.stats[:in_flight] == 2 }
        socket.write(get)
        answer = reader.answer
        expect([answer.status, answer["retry-after"]]).to eq([503, "1"])
        3.times { gate << true }
        expect(waiting.map(&:value)).to eq([200, 200])
        socket.write(get)
        expect(reader.answer.status).to eq(200)
      end
    end

    it "counts requests whose body is still coming when it has come" do
      gate = Thread::Queue.new
      port = serve("max_in_flight" => 1) { |request| gate.pop && request.respond(200, text, "") }
      talk(port) do |slow, slow_reader|
        slow.write(message("POST", "/", { "Content-Length" => 3 }, "a"))
        waiting = Thread.new { ask(port, get).status }
        eventually { server.stats[:in_flight] == 1 }
        slow.write("bc")
        expect(slow_reader.answer.status).to eq(503)
        gate << true
        expect(waiting.value).to eq(200)
      end
    end

    it "accepts no more than max_connections, and the next when one has closed" do
      port = serve_echo("max_connections" => 2)
      open = Array.new(2) { TCPSocket.open("127.0.0.1", port) }
      eventually { server.stats[:connections] == 2 }
      waiting = Thread.new { ask(port, get).status }
      expect(waiting.join(0.2)).to be_nil
      expect(server.stats[:connections]).to eq(2)
      open.each(&:close)
      expect(waiting.value).to eq(200)
    end

    it "serves others while many connections idle or drip (puma CVE-2019-16770, CVE-2021-29509)" do
      port = serve_echo
      hogs = Array.new(200) do |index|
        TCPSocket.open("127.0.0.1", port).tap do |hog|
          hog.write(index.odd? ? "GET / H" : get)
        end
      end
      expect(elapsed { 20.times { expect(ask(port, get).status).to eq(200) } }).to be < 2
      hogs.each(&:close)
    end

    it "lets a connection that is never idle starve nobody" do
      port = serve_echo
      busy = Thread.new do
        talk(port) { |socket, reader| 2_000.times { socket.write(get * 20) && 20.times { reader.answer } } }
      end
      expect(elapsed { 20.times { expect(ask(port, get).status).to eq(200) } }).to be < 3
      busy.kill.join
    end
  end

  describe "when the client leaves" do
    def told(port, bytes, wait: nil)
      connection(port) do |socket|
        socket.write(bytes)
        socket.readpartial(1) if wait
        yield socket if block_given?
        socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii")) # RST instead of FIN
      end
    end

    it "wakes a fiber that waits before its answer" do
      errors = Thread::Queue.new
      port = serve do |_request|
        sleep 30
      rescue Fastr::DisconnectedError => e
        errors << e
      end
      told(port, get) { eventually { server.stats[:in_flight] == 1 } }
      expect(errors.pop).to be_a(Fastr::DisconnectedError)
      eventually { held == [0, 0, 0] }
    end

    it "tells a stream within one write" do
      writes = Thread::Queue.new
      gone = Thread::Queue.new
      port = serve do |request|
        request.start(200, text)
        request.write("first")
        gone.pop
        loop { writes << request.write("x") }
      rescue Fastr::DisconnectedError
        writes << :told
      end
      told(port, get, wait: true)
      eventually { server.stats[:connections].zero? }
      gone << true
      expect(writes.pop).to eq(:told)
      eventually { held == [0, 0, 0] }
    end

    it "lets go of a body that is being read" do
      port = serve(&:body)
      told(port, message("POST", "/", { "Content-Length" => 1_000_000 }, "x" * 100_000)) do
        eventually { server.stats[:in_flight] == 1 }
      end
      eventually { held == [0, 0, 0] }
    end

    it "runs the ensure blocks of its fiber once" do
      ran = 0
      port = serve do |_request|
        sleep 30
      ensure
        ran += 1
      end
      told(port, get) { eventually { server.stats[:in_flight] == 1 } }
      eventually { held == [0, 0, 0] && ran == 1 }
      expect(ran).to eq(1)
    end

    it "ignores an answer that comes too late" do
      gate = Thread::Queue.new
      port = serve do |request|
        begin
          gate.pop
        rescue Fastr::DisconnectedError
          nil
        end
        request.respond(200, text, "late")
      end
      told(port, get) { eventually { server.stats[:in_flight] == 1 } }
      eventually { held == [0, 0, 0] }
      expect(handler.failures).to be_empty
    end
  end

  describe "with slow readers" do
    def resident
      File.read("/proc/self/statm").split[1].to_i * 4096
    end

    it "holds little of an endless stream" do
      written = 0
      port = serve do |request|
        request.start(200, text)
        loop do
          written += 65_536
          Fastr::Completion.await { |sink| request.drain(sink) } if request.write("x" * 65_536) > 262_144
        end
      rescue Fastr::DisconnectedError
        nil
      end
      clients = Array.new(5) { TCPSocket.open("127.0.0.1", port).tap { |client| client.write(get) } }
      before = -1
      eventually(within: 10) { before == (before = written) || (sleep(0.1) && false) }
      expect(written).to be < 5 * 8_000_000 # what the kernel's buffers take, and 256 KB of ours
      clients.each(&:close)
      eventually { held == [0, 0, 0] }
    end

    it "holds little of a large file" do
      Dir.mktmpdir do |folder|
        File.open("#{folder}/big.bin", "w") { |file| file.truncate(200_000_000) }
        port = serve_echo("public" => folder)
        grown = -resident
        clients = Array.new(5) { TCPSocket.open("127.0.0.1", port).tap { |client| client.write(get("/big.bin")) } }
        clients.each { |client| client.readpartial(1) }
        before = -1
        eventually { before == (before = resident) || (sleep(0.1) && false) }
        expect(grown + resident).to be < 40_000_000
        clients.each(&:close)
        eventually { held == [0, 0, 0] }
      end
    end

    it "gives a slow reader the whole, byte for byte" do
      body = Random.new(1).bytes(3_000_000)
      port = serve { |request| request.respond(200, text, body) }
      talk(port) do |socket, reader|
        socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_RCVBUF, 32_768)
        socket.write(get)
        expect(reader.answer.body == body).to be(true)
      end
    end
  end
end
