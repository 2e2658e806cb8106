# frozen_string_literal: true

# RFC 9110: methods, statuses, expectations, conditions, ranges; and what the server answers without Ruby.
RSpec.describe "HTTP semantics" do
  let(:text) { Support::Dispatching::TEXT }

  def table
    Fastr::RouteTable.new.tap do |routes|
      routes.add(%w[GET POST], "/ruby", {}, 1)
      routes.add_constant(%w[GET], "/up", 200, { "content-type" => "text/plain" }, "OK")
    end
  end

  describe "methods (9)" do
    it "answers 404 to a path without a route" do
      port = serve({}, table) { |request| request.respond(200, text, "ruby") }
      expect(ask(port, get("/other")).status).to eq(404)
    end

    it "answers 405 with Allow to a method that a path has not, 204 with Allow to OPTIONS" do
      port = serve({}, table) { |request| request.respond(200, text, "ruby") }
      refused = ask(port, message("DELETE", "/ruby"))
      expect(refused.status).to eq(405)
      expect(refused["allow"].split(", ")).to include("GET", "HEAD", "POST")
      options = ask(port, message("OPTIONS", "/ruby"))
      expect([options.status, options["allow"]]).to eq([204, refused["allow"]])
    end

    it "answers HEAD where it answers GET" do
      port = serve({}, table) { |request| request.respond(200, text, "ruby") }
      expect(ask(port, message("HEAD", "/ruby"))["content-length"]).to eq("4")
      expect(ask(port, message("HEAD", "/up"))["content-length"]).to eq("2")
    end

    it "never shows a client's markup as markup" do
      port = serve({}, table)
      answer = ask(port, get("/<script>".gsub("<", "%3C")))
      expect(answer["content-type"]).to start_with("text/plain")
    end
  end

  describe "without Ruby" do
    it "answers constants, files, 404, 405 and OPTIONS while Ruby is blocked" do
      Dir.mktmpdir do |folder|
        File.write("#{folder}/a.txt", "file")
        release = false
        port = serve({ "public" => folder }, table) do |request|
          nil until release # holds the dispatcher: nothing else of Ruby's can run there
          request.respond(200, text, "ruby")
        end
        blocked = Thread.new { ask(port, get("/ruby")).body }
        eventually { server.stats[:in_flight] == 1 }
        answers = [get("/up"), get("/a.txt"), get("/none"), message("PUT", "/ruby"), message("OPTIONS", "/ruby")]
        expect(answers.map { |bytes| ask(port, bytes).status }).to eq([200, 200, 404, 405, 204])
        expect(blocked).to be_alive
        release = true
        expect(blocked.value).to eq("ruby")
      end
    end

    it "answers constants when max_in_flight is reached" do
      gate = Thread::Queue.new
      port = serve({ "max_in_flight" => 1 }, table) { |request| gate.pop && request.respond(200, text, "") }
      blocked = Thread.new { ask(port, get("/ruby")).status }
      eventually { server.stats[:in_flight] == 1 }
      expect([ask(port, get("/ruby")).status, ask(port, get("/up")).body]).to eq([503, "OK"])
      gate << true
      expect(blocked.value).to eq(200)
    end
  end

  describe "Expect (10.1.1)" do
    def expecting(length, expectation = "100-continue")
      message("POST", "/", "Content-Length" => length, "Expect" => expectation)
    end

    [5, 100_000].each do |length|
      it "sends 100 Continue for a body of #{length} bytes when the application asks for it" do
        port = serve_echo
        talk(port) do |socket, reader|
          socket.write(expecting(length))
          expect(reader.answer.status).to eq(100)
          socket.write("x" * length)
          expect(reader.answer.body).to end_with("x" * length)
        end
      end

      it "sends none for a body of #{length} bytes that the application does not want" do
        port = serve { |request| request.respond(403, text, "no") }
        talk(port) do |socket, reader|
          socket.write(expecting(length))
          expect(reader.answer.status).to eq(403)
        end
      end
    end

    it "sends none when the body is refused for its length" do
      port = serve_echo("max_body" => 10)
      expect(ask_last(port, expecting(11)).status).to eq(413)
    end

    it "sends none to HTTP/1.0" do
      port = serve_echo
      expect(ask(port, message("POST", "/", { "Expect" => "100-continue" }, "abc", "1.0")).status).to eq(200)
    end

    it "sends none when the body came already" do
      port = serve_echo
      talk(port) do |socket, reader|
        socket.write(message("POST", "/", { "Expect" => "100-continue" }, "abc"))
        answer = reader.answer
        answer = reader.answer if answer.status == 100
        expect(answer.body).to eq("POST / abc")
      end
    end

    it "answers 417 to any other expectation" do
      port = serve_echo
      expect(ask_last(port, expecting(3, "magic")).status).to eq(417)
    end
  end

  it "does not take an upgrade that it does not know: the request is answered as it is (7.8)" do
    port = serve_echo
    talk(port) do |socket, reader|
      socket.write(message("GET", "/", "Upgrade" => "h2c", "Connection" => "Upgrade") + get("/next"))
      expect([reader.answer.body, reader.answer.body]).to eq(["GET / ", "GET /next "])
    end
  end

  describe "files" do
    around do |example|
      Dir.mktmpdir do |folder|
        @folder = "#{folder}/public"
        Dir.mkdir(@folder)
        File.write("#{folder}/secret.txt", "secret")
        File.write("#{@folder}/a.txt", "0123456789" * 10)
        File.write("#{@folder}/.env", "secret")
        File.symlink("#{folder}/secret.txt", "#{@folder}/link.txt")
        Dir.mkdir("#{@folder}/sub")
        Dir.mkdir("#{folder}/public-other")
        File.write("#{folder}/public-other/x.txt", "secret")
        example.run
      end
    end

    let(:port) { serve({ "public" => @folder }, Fastr::RouteTable.new) }

    it "come with type, length, time and tag, and 304 when nothing changed (13)" do
      answer = ask(port, get("/a.txt"))
      expect([answer.status, answer["content-type"],
              answer.body.bytesize]).to match([200, start_with("text/plain"), 100])
      tag = answer["etag"]
      expect(ask(port, get("/a.txt", If_None_Match: tag)).status).to eq(304)
      expect(ask(port, get("/a.txt", If_None_Match: "\"x\"")).status).to eq(200)
      expect(ask(port, get("/a.txt", If_Modified_Since: answer["last-modified"])).status).to eq(304)
      expect(ask(port, message("HEAD", "/a.txt"))["content-length"]).to eq("100")
    end

    %w[/../secret.txt /..%2fsecret.txt /%2e%2e/secret.txt /sub/../../secret.txt /..%5csecret.txt /link.txt /.env
       /%2eenv /../public-other/x.txt /a.txt%00 /a.txt/ /sub /%c0%ae%c0%ae/secret.txt //secret.txt].each do |path|
      it "give nothing of #{path} (iodine CVE-2024-22050, rack CVE-2020-8161, CVE-2025-27610, CVE-2026-34785)" do
        answer = ask(port, get(path))
        expect(answer.status).to be_between(400, 499)
        expect(answer.body).not_to eq("secret")
      end
    end

    it "give nothing of a name of 4,000 bytes" do
      expect(ask(port, get("/#{'a' * 4_000}")).status).to be_between(400, 499)
    end

    it "give one range (14)" do
      answer = ask(port, get("/a.txt", Range: "bytes=10-19"))
      expect([answer.status, answer["content-range"], answer.body]).to eq([206, "bytes 10-19/100", "0123456789"])
      expect(ask(port, get("/a.txt", Range: "bytes=-3")).body).to eq("789")
      expect(ask(port, get("/a.txt", Range: "bytes=95-")).body).to eq("56789")
    end

    it "answer 416 to a range behind the end" do
      answer = ask(port, get("/a.txt", Range: "bytes=100-"))
      expect([answer.status, answer["content-range"]]).to eq([416, "bytes */100"])
    end

    ["bytes=9-3", "bytes=a-b", "bytes=--5", "bytes=-", "chunks=1-2", "bytes=1-2-3",
     "bytes=99999999999999999999-", "bytes=0-18446744073709551615"].each do |range|
      it "are safe from the range #{range} (Bandit #653)" do
        answer = ask(port, get("/a.txt", Range: range))
        expect([200, 206, 416]).to include(answer.status)
        expect(answer.body.bytesize).to be <= 100
      end
    end

    it "answer many or overlapping ranges with no more than the file (rack CVE-2024-26141, CVE-2026-34826)" do
      [Array.new(200) { |index| "#{index % 90}-" }, ["0-"] * 15, Array.new(1_000) { "0-99" }].each do |ranges|
        answer = ask(port, get("/a.txt", Range: "bytes=#{ranges.join(',')}"))
        expect(answer.body.bytesize).to be < 400
      end
    end
  end

  describe "multipart bodies" do
    def form(*parts, boundary: "b")
      body = parts.map { |part| "--#{boundary}\r\n#{part}\r\n" }.join + "--#{boundary}--\r\n"
      message("POST", "/", { "Content-Type" => "multipart/form-data; boundary=#{boundary}" }, body)
    end

    def field(name, value)
      "Content-Disposition: form-data; name=\"#{name}\"\r\n\r\n#{value}"
    end

    def serve_parts
      serve("max_body" => 1_000_000) do |request|
        request.respond(200, text, request.parts.map do |part|
                                     part.first(2)
                                   end.inspect)
      end
    end

    it "are read into parts" do
      port = serve_parts
      expect(ask(port, form(field("a", "1"), field("b", "2"))).body).to eq('[["a", nil], ["b", nil]]')
    end

    {
      "too many parts (rack CVE-2022-30122, CVE-2023-27530)" => ->(it) { it.form(*[it.field("a", "1")] * 2_000) },
      "an endless part head (rack CVE-2025-61772)" => lambda { |it|
        it.form("Content-Disposition: form-data; name=\"a\"\r\nX: #{'a' * 100_000}\r\n\r\n1")
      },
      "an endless preamble (rack CVE-2025-61770)" => lambda { |it|
        it.message("POST", "/", { "Content-Type" => "multipart/form-data; boundary=b" }, "x" * 900_000)
      },
      "no boundary (rack CVE-2026-26961)" => lambda { |it|
        it.message("POST", "/", { "Content-Type" => "multipart/form-data" }, "x")
      },
      "an endless boundary" => ->(it) { it.form(it.field("a", "1"), boundary: "b" * 500) },
      "no end" => lambda { |it|
        it.message("POST", "/", { "Content-Type" => "multipart/form-data; boundary=b" }, "--b\r\n#{it.field('a', '1')}")
      }
    }.each do |what, bytes|
      it "with #{what} are the client's fault, at once" do
        port = serve_parts
        seconds = elapsed { ask(port, instance_exec(self, &bytes)) }
        expect(seconds).to be < 2
        expect(handler.failures.map(&:class).uniq).to eq([Fastr::RequestError])
        eventually { held.first.zero? }
      end
    end
  end
end
