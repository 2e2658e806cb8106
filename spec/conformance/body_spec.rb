# frozen_string_literal: true

# RFC 9112 section 6: how long a body is, both ways, and the request smuggling that comes of two opinions about it.
RSpec.describe "HTTP/1.1 bodies" do
  let(:text) { Support::Dispatching::TEXT }

  it "takes a body of the length that Content-Length says and no byte more" do
    port = serve_echo
    talk(port) do |socket, reader|
      socket.write(message("POST", "/1", { "Content-Length" => 3 }, "abc#{get('/2')}"))
      expect([reader.answer.body, reader.answer.body]).to eq(["POST /1 abc", "GET /2 "])
    end
  end

  it "takes a body with GET too, and no part of it for the next request (hyper RUSTSEC-2020-0008)" do
    port = serve { |request| request.respond(200, text, request.path) }
    talk(port) do |socket, reader|
      socket.write(message("GET", "/1", {}, get("/smuggled")) + get("/2"))
      expect([reader.answer.body, reader.answer.body]).to eq(["/1", "/2"])
    end
  end

  it "lets no unread body become a request (async-h1 RUSTSEC-2020-0093)" do
    port = serve { |request| request.respond(200, text, request.path) }
    smuggled = get("/smuggled") * 4_000
    talk(port) do |socket, reader|
      send_all(socket, message("POST", "/1", {}, smuggled))
      expect(reader.answer.body).to eq("/1")
      expect(reader.rest).not_to include("smuggled")
    end
  end

  {
    "a length with a sign (hyper RUSTSEC-2021-0078)" => "Content-Length: +3",
    "a negative length" => "Content-Length: -1",
    "a hexadecimal length" => "Content-Length: 0x3",
    "a length with a space in it" => "Content-Length: 1 2",
    "no length in the field (puma CVE-2023-40175)" => "Content-Length:",
    "a length that wraps around" => "Content-Length: 18446744073709551619",
    "a length with a fraction" => "Content-Length: 3.0",
    "a list of lengths" => "Content-Length: 3, 3",
    "two equal lengths (Bandit CVE-2026-39805)" => "Content-Length: 3\r\nContent-Length: 3",
    "two different lengths" => "Content-Length: 3\r\nContent-Length: 4",
    "a length and chunks (puma CVE-2020-11076)" => "Content-Length: 3\r\nTransfer-Encoding: chunked",
    "chunks and a length" => "Transfer-Encoding: chunked\r\nContent-Length: 3",
    "chunks twice (puma CVE-2022-24790)" => "Transfer-Encoding: chunked, chunked",
    "two fields of chunks (hyper RUSTSEC-2021-0020)" => "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "chunks that are not last" => "Transfer-Encoding: chunked, gzip",
    "identity" => "Transfer-Encoding: identity",
    "chunks by another name (webrick CVE-2020-25613)" => "Transfer-Encoding: xchunked",
    "chunks with a control character (puma CVE-2020-11077)" => "Transfer-Encoding: \x0Bchunked",
    "chunks with a parameter" => "Transfer-Encoding: chunked;q=1",
    "chunks in quotes" => "Transfer-Encoding: \"chunked\"",
    "an empty Transfer-Encoding" => "Transfer-Encoding:"
  }.each do |what, lines|
    it "refuses #{what}: two programs could read it in two ways" do
      port = serve_echo
      answer = ask_last(port, "POST / HTTP/1.1\r\nHost: a\r\n#{lines}\r\n\r\n0\r\n\r\n#{get('/smuggled')}")
      expect([answer.status, answer["connection"]]).to eq([400, "close"])
    end
  end

  it "answers 501 to a transfer coding that it does not know (6.1)" do
    port = serve_echo
    expect(ask_last(port, message("POST", "/", { "Transfer-Encoding" => "gzip, chunked" }, "")).status).to eq(501)
  end

  it "refuses chunks in HTTP/1.0 (6.1)" do
    port = serve_echo
    expect(ask_last(port,
                    message("POST", "/", { "Transfer-Encoding" => "chunked" }, "0\r\n\r\n", "1.0")).status).to eq(400)
  end

  it "takes a body of 1 MB and one of 3 MB as they were sent" do
    port = serve { |request| request.respond(200, text, request.body.sum(64).to_s) }
    [1_000_000, 3_000_000].each do |size|
      body = Random.new(size).bytes(size)
      expect(ask(port, message("POST", "/", {}, body)).body).to eq(body.sum(64).to_s)
    end
  end

  it "answers 413 to a declared length over the limit before a byte of it is sent" do
    port = serve_echo("max_body" => 1_000)
    expect(ask(port, message("POST", "/", {}, "x" * 1_000)).status).to eq(200)
    expect(ask_last(port, message("POST", "/", "Content-Length" => 1_001)).status).to eq(413)
  end

  it "answers a client that sends the whole of a refused body before it reads" do
    port = serve_echo("max_body" => 1_000)
    talk(port) do |socket, reader|
      socket.write(message("POST", "/", {}, "x" * 4_000_000))
      expect(reader.answer.status).to eq(413)
    end
  end

  it "answers a client that sends a body which nobody reads, and closes" do
    port = serve { |request| request.respond(200, text, "no thanks") }
    talk(port) do |socket, reader|
      socket.write(message("POST", "/", {}, "x" * 8_000_000))
      answer = reader.answer
      expect([answer.status, answer["connection"]]).to eq([200, "close"])
      expect(reader).to be_ended
    end
    eventually { held == [0, 0, 0] }
  end

  it "does the same for paths without a route" do
    port = serve({}, Fastr::RouteTable.new)
    talk(port) do |socket, reader|
      socket.write(message("POST", "/", {}, "x" * 8_000_000))
      expect(reader.answer.status).to eq(404)
      expect(reader).to be_ended
    end
  end

  it "raises in the reader of a body that breaks off" do
    port = serve(&:body)
    connection(port) { |socket| socket.write(message("POST", "/", { "Content-Length" => 100_000 }, "abc")) }
    eventually { handler.failures.any? }
    expect(handler.failures.first).to be_a(Fastr::RequestError).or be_a(Fastr::DisconnectedError)
    eventually { held == [0, 0, 0] }
  end

  it "never calls the application with half of a small body" do
    called = false
    port = serve { |_request| called = true }
    connection(port) { |socket| socket.write(message("POST", "/", { "Content-Length" => 100 }, "abc")) }
    eventually { server.stats[:connections].zero? }
    expect(called).to be(false)
  end

  it "lets an application read and answer at the same time" do
    port = serve do |request|
      request.start(200, text)
      until (piece = Fastr::Completion.await { |sink| request.body_read(sink, 65_536) }).empty?
        request.write(piece)
      end
      request.finish
    end
    talk(port) do |socket, reader|
      socket.write(message("POST", "/", "Content-Length" => 100_000))
      expect(reader.line).to include("200")
      nil until reader.line.empty?
      10.times do |index|
        piece = index.to_s * 10_000
        socket.write(piece)
        received = +""
        received << reader.take(reader.line.to_i(16)).tap { reader.take(2) } until received.bytesize == 10_000
        expect(received).to eq(piece)
      end
      expect(reader.line).to eq("0")
    end
  end

  describe "of answers" do
    [0, 1, 300_000, 3_000_000].each do |size|
      it "come whole with #{size} bytes, on a connection that lives on" do
        body = "ab" * (size / 2) + "c" * (size % 2)
        port = serve { |request| request.respond(200, text, body) }
        talk(port) do |socket, reader|
          3.times do
            socket.write(get)
            expect(reader.answer.body == body).to be(true)
          end
        end
      end
    end

    it "are not there for HEAD, whose fields are those of GET (RFC 9110, 9.3.2)" do
      port = serve { |request| request.respond(200, text, "hello") }
      talk(port) do |socket, reader|
        socket.write(message("HEAD", "/") + get)
        head = reader.answer(to: "HEAD")
        expect(reader.answer.fields - head.fields).to be_empty
      end
    end

    it "are not there for HEAD when they are streamed, and end the stream's producer" do
      ended = Thread::Queue.new
      port = serve do |request|
        request.start(200, text)
        1_000.times { request.write("x" * 1_000) && sleep(0.001) }
      rescue Fastr::DisconnectedError => e
        ended << e
      end
      talk(port) do |socket, reader|
        socket.write(message("HEAD", "/"))
        expect(reader.answer(to: "HEAD").status).to eq(200)
        expect(ended.pop).to be_a(Fastr::DisconnectedError)
        socket.write(message("HEAD", "/"))
        expect(reader.answer(to: "HEAD").status).to eq(200)
      end
    end

    [204, 304].each do |status|
      it "are not there with #{status}, nor is a length" do
        port = serve { |request| request.respond(request.path == "/" ? status : 200, text, "body") }
        talk(port) do |socket, reader|
          socket.write(get + get("/next"))
          answer = reader.answer
          expect([answer.status, answer["content-length"], answer["transfer-encoding"]]).to eq([status, nil, nil])
          expect(reader.answer.body).to eq("body")
        end
      end
    end

    it "have the length that they have, whatever the application says: no answer runs into the next" do
      lengths = { "/long" => "10", "/short" => "2", "/none" => "0", "/noise" => "x" }
      port = serve { |request| request.respond(200, { "content-length" => lengths[request.path] }, "12345") }
      talk(port) do |socket, reader|
        lengths.each_key do |path|
          socket.write(get(path))
          expect(reader.answer.to_a.values_at(1, 3)).to eq([200, "12345"])
        end
      end
    end

    it "have no length of another answer, except with HEAD and 304" do
      port = serve { |request| request.respond(request.path[1..].to_i, { "content-length" => "10" }, "") }
      expect(ask(port, message("HEAD", "/200"))["content-length"]).to eq("10")
      expect(ask(port, get("/200"))["content-length"]).to eq("0")
    end

    it "are framed by the server only: a Transfer-Encoding of the application is left out" do
      port = serve { |request| request.respond(200, { "transfer-encoding" => "gzip" }, "12345") }
      answer = ask(port, get)
      expect([answer["transfer-encoding"], answer.body]).to eq([nil, "12345"])
    end

    it "reach the client up to where they are cut: head and bytes, and the handler hears what was missing" do
      port = serve do |request|
        request.start(200, { "content-length" => "10" })
        request.write("12345") if request.path == "/some"
        request.finish
      end
      { "/some" => "12345", "/none" => "" }.each do |path, sent|
        expect(raw(port, get(path))).to match(%r{\AHTTP/1\.1 200 OK\r\n.*content-length: 10\r\n.*\r\n\r\n#{sent}\z}m)
      end
      expect(handler.failures.map(&:message)).to match([/5 bytes short of its Content-Length of 10/, /10 bytes short/])
    end

    it "end where they promised, and the handler hears of what was more" do
      port = serve do |request|
        request.start(200, { "content-length" => "5" })
        request.write("123")
        request.write("4567")
      end
      talk(port) do |socket, reader|
        socket.write(get)
        expect(reader.answer.body).to eq("12345")
      end
      expect(handler.failures).to match([an_instance_of(Fastr::ResponseError)
        .and(have_attributes(message: /2 bytes longer than its Content-Length of 5/))])
    end

    it "may name the length of another answer while streaming nothing, to HEAD" do
      port = serve do |request|
        request.start(200, { "content-length" => "10" })
        request.finish
      end
      answer = ask(port, message("HEAD", "/"))
      expect([answer["content-length"], handler.failures]).to eq(["10", []])
    end

    it "are cut visibly when fewer bytes are streamed than were promised" do
      port = serve do |request|
        request.start(200, { "content-length" => "10" })
        request.write("12345")
        request.finish
      end
      expect { ask(port, get) }.to raise_error(EOFError)
    end

    it "end where they promised when more is streamed" do
      port = serve do |request|
        request.start(200, { "content-length" => "3" })
        request.write("123456")
        request.finish
      end
      expect(ask(port, get).body).to eq("123")
    end

    [0, 99, 100, 101, 103, 199, 1000].each do |status|
      it "have no status #{status}: the application gets the error" do
        port = serve { |request| request.respond(status, text, "") }
        expect(ask(port, get).status).to eq(500)
        expect(handler.failures.map(&:class)).to eq([ArgumentError])
      end
    end

    it "may have any other status" do
      port = serve { |request| request.respond(request.path[1..].to_i, text, "x") }
      expect([200, 299, 451, 599, 999].map do |status|
               ask(port, get("/#{status}")).status
             end).to eq([200, 299, 451, 599, 999])
    end
  end
end
