# frozen_string_literal: true

# A plain GET is answered on a way of its own until something else comes; nobody may be able to tell where one way ends
# and the other begins.
RSpec.describe "The direct way of a connection" do
  let(:text) { Support::Dispatching::TEXT }

  def shape(answer)
    [answer.version, answer.status, answer.fields.map(&:first).sort, answer["content-type"], answer.body]
  end

  it "answers as the other way does" do
    port = serve { |request| request.respond(200, text.merge("X-A" => "b", "Set-Cookie" => %w[c=1 d=2]), "hi") }
    plain = serve { |request| request.respond(200, text, "hi") }
    [port, plain].each do |any|
      talk(any) do |socket, reader|
        answers = [get, get("/", Connection: "keep-alive"), message("POST", "/", {}, "x"), get].map do |bytes|
          socket.write(bytes)
          shape(reader.answer)
        end
        expect(answers.uniq.size).to eq(1)
      end
    end
  end

  {
    "a body" => ["POST", { "Content-Length" => "2" }, "ab", "POST /x ab"],
    "chunks" => ["POST", { "Transfer-Encoding" => "chunked" }, "2\r\nab\r\n0\r\n\r\n", "POST /x ab"],
    "another method" => ["DELETE", {}, nil, "DELETE /x "],
    "an upgrade nobody takes" => ["GET", { "Connection" => "upgrade", "Upgrade" => "y" }, nil, "GET /x "],
    "many fields" => ["GET", Array.new(60) { |index| ["X-#{index}", "y"] }.to_h, nil, "GET /x "]
  }.each do |what, (method, fields, body, expected)|
    it "goes on after #{what}, alone or right behind a plain request" do
      port = serve_echo
      other = message(method, "/x", fields, body)
      [[get("/1"), other, get("/2")], [get("/1") + other, get("/2")], [get("/1"), other + get("/2")]].each do |writes|
        talk(port) do |socket, reader|
          bodies = writes.flat_map do |bytes|
            socket.write(bytes)
            Array.new(bytes.scan(%r{ HTTP/1\.1\r\n}).size) { reader.answer.body }
          end
          expect(bodies).to eq(["GET /1 ", expected, "GET /2 "])
        end
      end
    end
  end

  it "keeps what comes while an answer is made, whole or in part" do
    port = serve do |request|
      sleep 0.05
      request.respond(200, text, request.target)
    end
    second = get("/2")
    [0, 1, 20, second.bytesize].each do |cut|
      talk(port) do |socket, reader|
        socket.write(get("/1"))
        sleep 0.01 # the first is with the application; nothing outside shows that
        socket.write(second[0, cut])
        expect(reader.answer.body).to eq("/1")
        socket.write(second[cut..])
        expect(reader.answer.body).to eq("/2")
      end
    end
  end

  it "hands over an answer that comes in pieces, and what was sent behind its request" do
    port = serve do |request|
      next request.respond(200, text, request.target) unless request.path == "/pieces"

      request.start(200, text)
      3.times { |index| request.write(index.to_s) }
      request.finish
    end
    talk(port) do |socket, reader|
      socket.write(get("/1"))
      expect(reader.answer.body).to eq("/1")
      socket.write(get("/pieces"))
      socket.write(get("/2"))
      expect(Array.new(2) { reader.answer.body }).to eq(%w[012 /2])
    end
  end

  it "hands over what is framed in another way: no body, a large one, the end" do
    answers = { "/none" => [204, {}, ""], "/same" => [304, { "Content-Length" => "7" }, ""],
                "/large" => [200, {}, "x" * 100_000], "/last" => [200, { "Connection" => "close" }, "bye"] }
    port = serve { |request| request.respond(*answers.fetch(request.path)) }
    answers.each do |path, (status, _, body)|
      talk(port) do |socket, reader|
        socket.write(get(path))
        answer = reader.answer
        expect([answer.status, answer.body, answer["connection"]])
          .to eq([status, body, path == "/last" ? "close" : nil])
        expect(reader).to be_ended if path == "/last"
      end
    end
  end

  it "answers what it refuses behind what it has taken" do
    port = serve do |request|
      sleep 0.02
      request.respond(200, text, request.target)
    end
    talk(port) do |socket, reader|
      socket.write("#{get('/1')}GET / HTTP/1.1\r\n\r\n")
      expect(Array.new(2) { reader.answer.status }).to eq([200, 400])
      expect(reader).to be_ended
    end
  end

  it "raises for a field that is none, and the request can still be answered" do
    port = serve do |request|
      [{ "a b" => "c" }, { "x" => "a\r\nb: c" }, { "x" => "\0" }].each do |headers|
        request.respond(200, headers, "")
      rescue ArgumentError
        next
      end
      request.respond(200, text, "still here")
    end
    expect(ask(port, get).body).to eq("still here")
  end
end
