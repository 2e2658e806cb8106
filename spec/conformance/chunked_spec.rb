# frozen_string_literal: true

# RFC 9112 section 7.1: chunks, both ways.
RSpec.describe "HTTP/1.1 chunked coding" do
  let(:text) { Support::Dispatching::TEXT }

  def chunked(body, target: "/", **fields)
    message("POST", target, { "Transfer-Encoding" => "chunked" }.merge(fields.transform_keys(&:to_s)), body)
  end

  it "takes chunks, upper and lower case, with leading zeros and extensions" do
    port = serve_echo
    expect(ask(port, chunked("3\r\nabc\r\n0A;x=y;z\r\n0123456789\r\n0\r\n\r\n")).body).to eq("POST / abc0123456789")
    expect(ask(port, chunked("a\r\n0123456789\r\n00\r\n\r\n", "X" => "1")).body).to eq("POST / 0123456789")
  end

  it "takes the coding's name in any case" do
    port = serve_echo
    expect(ask(port,
               message("POST", "/", { "Transfer-Encoding" => "Chunked" },
                       "1\r\na\r\n0\r\n\r\n")).body).to eq("POST / a")
  end

  it "takes the next request behind the last chunk" do
    port = serve_echo
    talk(port) do |socket, reader|
      socket.write(chunked("1\r\na\r\n0\r\n\r\n") + get("/2"))
      expect([reader.answer.body, reader.answer.body]).to eq(["POST / a", "GET /2 "])
    end
  end

  it "takes trailers and does not mix them with the fields (7.1.2)" do
    port = serve { |request| request.body && request.respond(200, text, request.headers.keys.sort.join(" ")) }
    expect(ask(port, chunked("1\r\na\r\n0\r\nX-Sum: 1\r\nX_Under: 2\r\n\r\n")).body).to eq("host transfer-encoding")
  end

  it "takes a body of many small chunks" do
    port = serve { |request| request.respond(200, text, request.body.bytesize.to_s) }
    expect(ask(port, chunked("#{"1\r\nx\r\n" * 100_000}0\r\n\r\n")).body).to eq("100000")
  end

  {
    "a size with a sign" => "+3\r\nabc\r\n0\r\n\r\n",
    "a negative size" => "-3\r\nabc\r\n0\r\n\r\n",
    "a size with 0x" => "0x3\r\nabc\r\n0\r\n\r\n",
    "a size with an underscore" => "1_0\r\n0123456789abcdef\r\n0\r\n\r\n",
    "a size with a space before it" => " 3\r\nabc\r\n0\r\n\r\n",
    "a size with a space behind it" => "3 \r\nabc\r\n0\r\n\r\n",
    "a size line that ends in LF (puma CVE-2021-41136)" => "3\nabc\r\n0\r\n\r\n",
    "data that ends in LF" => "3\r\nabc\n0\r\n\r\n",
    "data that is longer than its size" => "3\r\nabcd\r\n0\r\n\r\n",
    "a size that wraps around (hyper RUSTSEC-2021-0079)" => "10000000000000003\r\nabc\r\n0\r\n\r\n",
    "a size of endless zeros" => "0" * 300,
    "an empty size" => "\r\n\r\n",
    "a NUL in a size line" => "3\0\r\nabc\r\n0\r\n\r\n",
    "an endless extension (puma CVE-2024-21647)" => "3;#{'a' * 400}",
    "a CR in an extension" => "3;a\rb\r\nabc\r\n0\r\n\r\n",
    "a trailer that frames (puma CVE-2023-40175)" => "0\r\nContent-Length: 5\r\n\r\n",
    "a trailer Transfer-Encoding" => "0\r\nTransfer-Encoding: chunked\r\n\r\n",
    "a trailer Host" => "0\r\nHost: b\r\n\r\n",
    "a trailer X-Forwarded-For" => "0\r\nX-Forwarded-For: 1\r\n\r\n",
    "a folded trailer" => "0\r\nX: a\r\n b\r\n\r\n",
    "a trailer without a colon" => "0\r\nXa\r\n\r\n"
  }.each do |what, body|
    it "refuses #{what} and answers nothing after it" do
      port = serve_echo
      talk(port) do |socket, reader|
        send_all(socket, chunked(body + get("/smuggled")))
        begin
          expect(reader.answer.status).to eq(500) # what the application made of it
        rescue EOFError, RuntimeError
          nil
        end
        expect(reader.rest).not_to include("smuggled")
      end
      expect(handler.failures.map { |error| error.status if error.is_a?(Fastr::RequestError) }).to eq([400])
    end
  end

  it "refuses extensions that are most of the body" do
    port = serve_echo
    ask(port, chunked("#{"1;#{'a' * 200}\r\nx\r\n" * 100}0\r\n\r\n"))
    expect(handler.failures.map(&:status)).to eq([400])
  end

  it "refuses trailers beyond their limit with 431" do
    port = serve_echo
    ask(port, chunked("0\r\n#{"X: #{'a' * 1000}\r\n" * 20}\r\n"))
    expect(handler.failures.map(&:status)).to eq([431])
  end

  it "refuses a body that grows over the limit with 413, counted as it comes (rack CVE-2026-34829)" do
    port = serve_echo("max_body" => 1_000)
    ask(port, chunked("#{"1f4\r\n#{'x' * 500}\r\n" * 3}0\r\n\r\n"))
    expect(handler.failures.map(&:status)).to eq([413])
  end

  describe "of answers" do
    it "streams pieces as they are written, each at once" do
      steps = Thread::Queue.new
      port = serve do |request|
        request.start(200, text)
        3.times { |index| request.write("piece #{index}") && steps.pop }
        request.finish
      end
      talk(port) do |socket, reader|
        socket.write(get)
        nil until reader.line.empty?
        3.times do |index|
          expect([reader.line, reader.take(7), reader.take(2)]).to eq(["7", "piece #{index}", "\r\n"])
          steps << true
        end
        expect(reader.line + reader.line).to eq("0")
        3.times { steps << true }
        socket.write(get("/again"))
        expect(reader.answer.body).to eq("piece 0piece 1piece 2")
      end
    end

    it "streams at once even when the next request is there already" do
      gate = Thread::Queue.new
      port = serve do |request|
        request.start(200, text)
        request.write("first")
        gate.pop
        request.finish
      end
      talk(port) do |socket, reader|
        socket.write(get + get("/next"))
        nil until reader.line.empty?
        expect([reader.line, reader.take(5)]).to eq(%w[5 first])
        2.times { gate << true }
        expect([reader.line, reader.line, reader.line]).to eq(["", "0", ""])
        expect(reader.answer.body).to eq("first")
      end
    end

    it "writes no chunk of size zero for an empty piece" do
      port = serve do |request|
        request.start(200, text)
        ["a", "", "b"].each { |piece| request.write(piece) }
        request.finish
      end
      expect(ask(port, get).body).to eq("ab")
    end

    it "cuts a broken answer without the last chunk" do
      port = serve do |request|
        request.start(200, text)
        request.write("half")
        raise "broken"
      end
      expect { ask(port, get) }.to raise_error(EOFError)
    end

    %w[keep-alive close].each do |connection|
      it "ends them by closing for HTTP/1.0 with Connection: #{connection}, and says so" do
        port = serve do |request|
          request.start(200, text)
          request.write("streamed")
          request.finish
        end
        talk(port) do |socket, reader|
          socket.write("GET / HTTP/1.0\r\nConnection: #{connection}\r\n\r\n")
          answer = reader.answer
          expect([answer["transfer-encoding"], answer.body]).to eq([nil, "streamed"])
          expect(answer["connection"]).not_to eq("keep-alive")
        end
      end
    end
  end
end
