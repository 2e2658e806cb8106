# frozen_string_literal: true

# Faults of the server that were found and fixed; each name says what went wrong.
RSpec.describe "Faults of the HTTP server" do
  let(:text) { Support::Dispatching::TEXT }

  it "kept a keep-alive connection open for ever after its first answer" do
    port = serve_echo("keep_alive_timeout" => 0.1)
    talk(port) do |socket, reader|
      socket.write(get)
      reader.answer
      expect(elapsed { expect(reader).to be_ended }).to be < 3
    end
  end

  it "gave a dripping head a new deadline with every byte" do
    port = serve_echo("head_timeout" => 0.15)
    talk(port) do |socket, reader|
      get.each_char.first(12).each { |byte| send_all(socket, byte) && sleep(0.03) }
      expect(reader.answer.status).to eq(408)
    end
  end

  it "took streams and files into memory as fast as they came, whatever the client took" do
    written = 0
    port = serve do |request|
      request.start(200, text)
      1_000.times do
        written += 65_536
        Fastr::Completion.await { |sink| request.drain(sink) } if request.write("x" * 65_536) > 65_536
      end
    rescue Fastr::DisconnectedError
      nil
    end
    connection(port) do |socket|
      socket.write(get)
      before = -1
      eventually { before == (before = written) || (sleep(0.1) && false) }
      expect(written).to be < 20_000_000
    end
    eventually { held == [0, 0, 0] }
  end

  it "held a stream's pieces back while the next request waited" do
    gate = Thread::Queue.new
    port = serve do |request|
      request.start(200, text)
      request.write("now")
      gate.pop
      request.finish
    end
    talk(port) do |socket, reader|
      socket.write(get + get)
      nil until reader.line.empty?
      expect([reader.line, reader.take(3)]).to eq(%w[3 now])
      2.times { gate << true }
      expect([reader.line, reader.line, reader.line]).to eq(["", "0", ""])
      expect(reader.answer.body).to eq("now")
    end
  end

  it "let an unread body hold its connection until the collector ran" do
    port = serve { |request| request.respond(200, text, "early") }
    GC.disable
    talk(port) do |socket, reader|
      socket.write(message("POST", "/", {}, "x" * 8_000_000))
      expect(reader.answer.body).to eq("early")
      expect(reader).to be_ended
    end
  ensure
    GC.enable
  end

  it "sent the Content-Length of the application with a body of another length" do
    port = serve { |request| request.respond(200, { "content-length" => "2" }, "12345") }
    talk(port) do |socket, reader|
      socket.write(get + get)
      expect([reader.answer.body, reader.answer.body]).to eq(%w[12345 12345])
    end
  end

  it "closed without an answer when the application's status was informational" do
    port = serve { |request| request.respond(100, text, "") }
    expect(ask(port, get).status).to eq(500)
  end

  it "told Rack the Host field where the target names another host" do
    port = serve { |request| request.respond(200, text, request.env.values_at("HTTP_HOST", "SERVER_NAME").join(" ")) }
    expect(ask(port, get("http://b:81/", Host: "a")).body).to eq("b:81 b")
  end

  it "promised keep-alive to HTTP/1.0 for an answer that only closing ends" do
    port = serve do |request|
      request.start(200, text)
      request.write("x")
      request.finish
    end
    talk(port) do |socket, reader|
      socket.write("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      expect(reader.answer["connection"]).to eq("close")
    end
  end

  it "asked for a small body with 100 Continue before the application wanted it" do
    port = serve { |request| request.respond(403, text, "no") }
    expect(ask(port, message("POST", "/", "Content-Length" => 3, "Expect" => "100-continue")).status).to eq(403)
  end

  it "ended a body with 408 because the application had taken its time" do
    port = serve("body_timeout" => 0.1) do |request|
      Fastr::Completion.await { |sink| request.body_read(sink, 1) }
      sleep 0.3
      request.respond(200, text, "read #{request.body.bytesize}")
    end
    talk(port) do |socket, reader|
      socket.write(message("POST", "/", { "Content-Length" => 70_000 }, "x" * 69_999))
      sleep 0.25
      socket.write("x")
      expect(reader.answer.body).to eq("read 69999")
    end
  end
end
