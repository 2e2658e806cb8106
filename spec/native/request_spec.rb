# frozen_string_literal: true

RSpec.describe Fastr::Request do
  include Support::Dispatching

  let(:text) { Support::Dispatching::TEXT }

  it "brings the request and takes the answer" do
    port = serve do |request|
      seen = [request.method, request.path, request.query_string, request.header("x-a"), request.captures]
      request.respond(201, { "content-type" => "text/plain", "x-b" => %w[1 2] }, seen.inspect)
    end
    response = http(port, "/a%20b?c=d", headers: { "X-A" => "y" })
    expect(response.code).to eq("201")
    expect(response.body).to eq(["GET", "/a%20b", "c=d", "y", ["a b"]].inspect)
    expect(response.get_fields("x-b")).to eq(%w[1 2])
  end

  it "reads a frozen Hash of headers again when one of its values can change" do
    changing = { "x-a" => +"first" }.freeze
    fixed = { "x-a" => "fixed", "x-b" => "2" }.freeze
    port = serve { |request| request.respond(200, request.path == "/changing" ? changing : fixed, "") }
    ask = ->(path) { http(port, path).then { |response| [response["x-a"], response["x-b"]] } }
    expect(Array.new(3) { ask.call("/fixed") }.uniq).to eq([%w[fixed 2]])
    expect(ask.call("/changing")).to eq(["first", nil])
    changing["x-a"].replace("second")
    expect(ask.call("/changing")).to eq(["second", nil])
  end

  it "does not keep more frozen Hashes than a program has" do
    port = serve { |request| request.respond(200, { "x-path" => request.path.freeze }.freeze, "") }
    paths = Array.new(200) { |number| "/#{number}" }
    expect(paths.map { |path| http(port, path)["x-path"] }).to eq(paths)
    GC.start
    kept = ObjectSpace.each_object(Hash).count { |hash| hash.frozen? && hash["x-path"] }
    expect(kept).to be < 80
  end

  it "raises on the second answer and lets the first stand" do
    errors = []
    port = serve do |request|
      request.respond(200, text, "first")
      request.respond(200, text, "second")
    rescue Fastr::AlreadySentError => e
      errors << e
    end
    expect(http(port, "/").body).to eq("first")
    expect(errors.size).to eq(1)
  end

  it "answers 500 when the request is dropped without an answer" do
    port = serve { |request| request.respond(200, text, "") if request.path == "/other" }
    response = nil
    waiting = Thread.new { response = http(port, "/") }
    # The collector looks for references on the native stack too, where one may lie until another request comes by.
    eventually(within: 15) { (http(port, "/other") && GC.start) || !waiting.alive? }
    expect(response.code).to eq("500")
  end

  it "answers 503 when no answer comes within the limit, and ignores a late one" do
    kept = nil
    port = serve("handler_timeout" => 0.1) { |request| kept = request }
    expect(http(port, "/").code).to eq("503")
    expect(kept).not_to be_open
    expect { kept.respond(200, text, "late") }.not_to raise_error
  end

  it "answers 500 when the handler raises, and the next request as ever" do
    port = serve { |request| request.path == "/boom" ? raise("boom") : request.respond(200, text, "fine") }
    expect(http(port, "/boom").code).to eq("500")
    expect(http(port, "/").body).to eq("fine")
    expect(handler.failures.map(&:message)).to eq(["boom"])
  end

  it "answers 500 after a Rust panic, and the process lives" do
    port = serve do |request|
      request.path == "/panic" ? Fastr::Native.panic_on_purpose : request.respond(200, text, "ok")
    end
    expect(http(port, "/panic").code).to eq("500")
    expect(http(port, "/").body).to eq("ok")
    expect(handler.failures.first).to be_a(Fastr::InternalError)
  end

  ["a\r\nset-cookie: x=1", "a\nb", "a\0b"].each do |value|
    it "refuses the header value #{value.inspect}" do
      port = serve { |request| request.respond(200, { "x-a" => value }, "") }
      expect(http(port, "/").code).to eq("500")
      expect(handler.failures.first).to be_a(ArgumentError)
    end
  end

  it "keeps header bytes above ASCII" do
    port = serve { |request| request.respond(200, text, request.header("x-a").b) }
    body = raw(port, "GET / HTTP/1.1\r\nHost: a\r\nX-A: \xE4\xFF\r\nConnection: close\r\n\r\n".b)
    expect(body).to end_with("\xE4\xFF".b)
  end

  it "streams with back-pressure" do
    peak = 0
    port = serve do |request|
      request.start(200, text)
      64.times do
        queued = request.write("x" * 65_536)
        peak = [peak, queued].max
        Fastr::Completion.await { |sink| request.drain(sink) } if queued > 262_144
      end
      request.finish
    end
    expect(http(port, "/").body.bytesize).to eq(64 * 65_536)
    expect(peak).to be < 1_000_000
  end

  it "cuts a streamed answer visibly" do
    port = serve do |request|
      request.start(200, text)
      request.write("half")
      request.abort
    end
    answer = raw(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    expect(answer).to include("4\r\nhalf\r\n")
    expect(answer).not_to include("0\r\n\r\n")
  end

  it "tells the handler's fiber when the client leaves" do
    errors = Thread::Queue.new
    port = serve do |request|
      request.start(200, text)
      sleep 30
    rescue Fastr::DisconnectedError => e
      errors << e
    end
    connection(port) { |socket| socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n") && socket.readpartial(20) }
    expect(errors.pop).to be_a(Fastr::DisconnectedError)
  end

  it "answers a client that closed its sending side" do
    port = serve do |request|
      sleep 0.1
      request.respond(200, text, "still here")
    end
    expect(raw(port, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
               half_close: true)).to end_with("still here")
  end

  it "reads a body that came with the head, and one that streams" do
    port = serve do |request|
      body = request.body_buffered
      body ||= Fastr::Completion.await { |sink| request.body_all(sink, nil) }
      request.respond(200, text, "#{body.bytesize} #{body.sum}")
    end
    [10, 70_000, 1_000_000].each do |size|
      sent = "ab" * (size / 2)
      expect(http(port, "/", method: "POST", body: sent).body).to eq("#{size} #{sent.sum}")
    end
  end

  it "reads a body piece by piece" do
    port = serve do |request|
      sizes = []
      until (piece = Fastr::Completion.await { |sink| request.body_read(sink, 4096) }).empty?
        sizes << piece.bytesize
      end
      request.respond(200, text, [sizes.sum, sizes.max].inspect)
    end
    expect(http(port, "/", method: "POST", body: "x" * 300_000).body).to eq([300_000, 4096].inspect)
  end

  it "answers 413 to a body that is declared too large" do
    port = serve("max_body" => 1000) { |request| request.respond(200, text, "") }
    expect(http(port, "/", method: "POST", body: "x" * 1001).code).to eq("413")
  end

  it "takes its answer from any thread, from a timer and after its fiber ended" do
    port = serve do |request|
      answer = -> { request.respond(200, text, request.path) }
      case request.path
      when "/thread" then Thread.new(&answer)
      when "/timer" then Fastr::Timer.new(0.01, &answer)
      when "/tick" then Fastr::Dispatcher.next_tick(&answer)
      when "/deferred" then Fastr::Reactor.defer(-> {}, ->(_) { answer.call })
      end
    end
    %w[/thread /timer /tick /deferred].each { |path| expect(http(port, path).body).to eq(path) }
  end

  it "takes an answer for a client that has left, and nothing comes of it" do
    kept = Thread::Queue.new
    port = serve { |request| kept << request }
    connection(port) { |socket| socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n") && (@request = kept.pop) }
    eventually { server.stats[:connections].zero? }
    expect([@request.open?, @request.left?]).to eq([false, true])
    expect { @request.respond(200, text, "late") }.not_to raise_error
    expect { @request.respond(200, text, "twice") }.to raise_error(Fastr::AlreadySentError)
  end

  it "lets a header's to_s answer the same request: the inner answer stands" do
    port = serve do |request|
      sly = Object.new
      sly.define_singleton_method(:to_s) do
        request.respond(200, TEXT_OF_ITS_OWN, "inner")
        GC.start
        "value"
      end
      request.respond(200, { "x-a" => sly, "x-b" => request.headers }, "outer")
    rescue TypeError, ArgumentError, Fastr::AlreadySentError => error
      handler.failures << error
      request.respond(200, text, "refused") unless request.answered?
    end
    stub_const("TEXT_OF_ITS_OWN", text)
    expect(http(port, "/").body).to eq("inner").or eq("refused")
    expect(handler.failures.size).to eq(1)
    expect(http(port, "/").code).to eq("200")
  end

  it "raises what a header's to_s raises, and can still be answered" do
    port = serve do |request|
      request.respond(200, { "x-a" => Class.new { def to_s = raise(IOError, "on purpose") }.new }, "")
    rescue IOError, TypeError => error
      request.respond(200, text, error.class.name)
    end
    expect(http(port, "/").body).to eq("IOError").or eq("TypeError")
  end
end
