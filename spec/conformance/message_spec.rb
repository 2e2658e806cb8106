# frozen_string_literal: true

# RFC 9112 section 2: the message as a whole.
RSpec.describe "HTTP/1.1 messages" do
  it "answers with its own version, a Date and the length of the body" do
    port = serve_echo
    answer = ask(port, get("/a?b=c"))
    expect(answer.to_a.values_at(0, 1, 3)).to eq(["HTTP/1.1", 200, "GET /a?b=c "])
    expect(Time.httpdate(answer["date"])).to be_within(5).of(Time.now)
    expect(answer["content-length"]).to eq("11")
  end

  it "takes a message in pieces of one byte as it takes it whole" do
    port = serve_echo
    bytes = message("POST", "/x", { "Transfer-Encoding" => "chunked" },
                    "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n")
    talk(port) do |socket, reader|
      bytes.each_char { |byte| socket.write(byte) }
      expect(reader.answer.body).to eq("POST /x abcde")
      socket.write(get("/next"))
      expect(reader.answer.body).to eq("GET /next ")
    end
  end

  it "ignores one empty line before a request (2.2)" do
    port = serve_echo
    expect(ask(port, "\r\n#{get}").status).to eq(200)
  end

  it "answers HTTP/1.0 with the same version" do
    port = serve_echo
    expect(ask_last(port, "GET / HTTP/1.0\r\n\r\n").to_a.values_at(0, 1)).to eq(["HTTP/1.0", 200])
  end

  {
    "two empty lines before a request" => ["\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    "a request line that ends in LF (puma CVE-2021-41136)" => ["GET / HTTP/1.1\nHost: a\r\n\r\n", 400],
    "a field line that ends in LF" => ["GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400],
    "an end of the head of LF LF" => ["GET / HTTP/1.1\r\nHost: a\r\nX: b\n\n", 400],
    "a bare CR in a field" => ["GET / HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n", 400],
    "a NUL in a field" => ["GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n", 400],
    "white space before the first field (2.2)" => ["GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400],
    "HTTP/0.9" => ["GET /\r\n\r\n", 400],
    "the version in lower case (2.3)" => ["GET / http/1.1\r\nHost: a\r\n\r\n", 400],
    "HTTP/2.0" => ["GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505],
    "the preface of HTTP/2" => ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505],
    "HTTP/1.11" => ["GET / HTTP/1.11\r\nHost: a\r\n\r\n", 400],
    "TLS on the plain port" => ["\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03".b, 400],
    "SSH" => ["SSH-2.0-OpenSSH_9.2\r\n\r\n", 400],
    "a letter of noise" => ["\xFF\xFE\xFD".b, 400],
    "JSON in place of a request" => ["{\"a\": 1}\r\n\r\n", 400]
  }.each do |what, (bytes, status)|
    it "refuses #{what} with #{status} and closes" do
      port = serve_echo
      answer = ask_last(port, bytes)
      expect(answer.status).to eq(status)
      expect(answer["connection"]).to eq("close")
      expect(handler.failures).to be_empty
    end
  end

  it "answers what came before a bad message, in order, then refuses it" do
    port = serve_echo
    talk(port) do |socket, reader|
      socket.write("#{get("/1")}#{get("/2")}BAD\r\n\r\n#{get("/3")}")
      expect(Array.new(3) { reader.answer.status }).to eq([200, 200, 400])
      expect(reader).to be_ended
    end
  end

  it "never hangs, crashes or answers 2xx to random bytes" do
    port = serve_echo
    random = Random.new(9112)
    statuses = Array.new(150) do
      noise = random.bytes(random.rand(1..400))
      noise = "GET / HTTP/1.1\r\n#{noise}\r\n\r\n".b if random.rand(2).zero?
      raw(port, noise, half_close: true)[%r{\AHTTP/1\.1 (\d)}, 1]
    end
    expect(statuses.uniq - [nil, "4", "5"]).to be_empty
    expect(handler.failures).to be_empty
    expect(http(port, "/").code).to eq("200")
  end
end
