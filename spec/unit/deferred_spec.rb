# frozen_string_literal: true

RSpec.describe Fastr::DeferredResponse do
  # The same application by the native path and through a Rack server's interface.
  def both(&block)
    app = Fastr.app(&block)
    port = serve_app(app)
    rack_port = serve_app_again(->(env) { app.call(env) })
    [port, rack_port]
  end

  def serve_app_again(app)
    host = Fastr::RackHost.wrap(app)
    native = Fastr::Dispatcher.instance.handler
    Fastr::Dispatcher.instance.handler = split(native, host)
    table = Fastr::RouteTable.new
    table.add(nil, "/*path", {}, 4_000_000)
    @second = Fastr::Server.listen({ "port" => 0 }, table)
    @second.port
  end

  # Tells the two servers of one process apart by the route's id.
  def split(native, rack)
    Class.new do
      define_method(:call) { |request| (request.route == 4_000_000 ? rack : native).call(request) }
      define_method(:failed) { |request, error| native.failed(request, error) }
    end.new
  end

  after do
    Fastr::Completion.await { |sink| @second.stop(sink, 0.2) } if @second
  rescue Fastr::TimeoutError
    nil
  end

  it "sends pieces and ends, on the native path and through Rack" do
    ports = both do
      get("/a") do
        headers["X-Own"] = "1"
        defer_response(201, { "Content-Type" => "text/x" }) do |response|
          response.send_data("one ")
          response.send_data("two")
          response.succeed
        end
      end
    end
    ports.each do |port|
      response = http(port, "/a")
      expect([response.code, response["content-type"], response["x-own"],
              response.body]).to eq(["201", "text/x", "1", "one two"])
    end
  end

  it "runs tasks on the pool and their callbacks on the dispatcher; return works in both" do
    ports = both do
      get("/a") do
        defer_response(200, {}) do |response|
          operation = proc { return Fastr::Dispatcher.on_dispatcher? ? "dispatcher" : "pool" }
          callback = proc do |value|
            response.send_data("#{value} #{Fastr::Dispatcher.on_dispatcher?}")
            response.finish
            return
          end
          response.task(operation, callback)
        end
      end
    end
    ports.each { |port| expect(http(port, "/a").body).to eq("pool true") }
  end

  it "calls closed blocks when the client leaves, once" do
    events = Thread::Queue.new
    ports = both do
      get("/a") do
        defer_response(200, {}) do |response|
          response.closed { events << :closed }
          response.callback { events << :succeeded }
          response.send_data("first")
        end
      end
    end
    ports.each do |port|
      connection(port) { |socket| socket.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n") && socket.readpartial(100) }
      expect(events.pop).to eq(:closed)
    end
    expect(events).to be_empty
  end

  it "answers 500 when the block raises before anything was sent" do
    port = serve_app(Fastr.app { get("/a") { defer_response(999_999, {}) { nil } } })
    expect(http(port, "/a").code).to eq("500")
  end

  it "cuts the answer visibly when the block raises after that, and logs it once" do
    port = serve_app(Fastr.app do
                       get("/a") do
                         defer_response(200, {}) do |response|
                           response.send_data("x") && raise("boom")
                         end
                       end
                     end)
    answer = nil
    log = logged { answer = raw(port, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n") }
    expect(answer).to start_with("HTTP/1.1 200")
    expect(answer).not_to end_with("0\r\n\r\n")
    expect(log.scan("boom").size).to eq(1)
  end

  it "fails the answer when a task raises" do
    port = serve_app(Fastr.app do
                       get("/a") do
                         defer_response(200, {}) do |response|
                           response.task(proc {
                                           raise "in the pool"
                                         }, proc {
                                            })
                         end
                       end
                     end)
    answer = raw(port, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
    expect(answer).not_to end_with("0\r\n\r\n")
  end

  it "keeps what is sent before a Rack server has attached" do
    response = described_class.new
    response.send_data("early ")
    got = +""
    response.each { |chunk| got << chunk }
    response.send_data("late")
    expect(got).to eq("early late")
  end

  it "runs callbacks that are added after the end at once, and only those of its end" do
    response = described_class.new
    seen = []
    response.callback { seen << 1 }
    response.errback { seen << :no }
    response.succeed
    response.fail
    response.callback { seen << 2 }
    response.errback { seen << :never }
    expect(seen).to eq([1, 2])
  end
end

RSpec.describe Fastr::Async do
  it "answers later with async_resp, natively and in the test client" do
    app = Fastr.app do
      get("/a") do
        Fastr::Reactor.add_timer(0.01) { async_resp { render(:text, "later") } }
        render_async
      end
      get("/b") do
        Fastr::Reactor.add_timer(0.01) { async_resp { raise "in the timer" } }
        throw :async
      end
    end
    port = serve_app(app)
    expect(http(port, "/a").body).to eq("later")
    expect(http(port, "/b").code).to eq("500")
    client = client_of(app)
    expect([client.get("/a").body, client.get("/b").status]).to eq(["later", 500])
  end

  it "lets an after filter make every action asynchronous" do
    stub_const("LaterController", Class.new(Fastr::Controller) do
      after_filter :render_async
      def index = Fastr::Reactor.add_timer(0.01) { async_resp { render(:text, "all async") } }
    end)
    port = serve_app(Fastr.app { router.for("/:controller/:action") })
    expect(http(port, "/later/index").body).to eq("all async")
  end

  it "gives env['async.callback'] on the native path" do
    port = serve_app(Fastr.app do
      get("/a") do
        callback = env["async.callback"]
        Fastr::Reactor.next_tick { callback.call([200, { "Content-Type" => "text/plain" }, ["by hand"]]) }
        [-1, {}, []]
      end
    end)
    expect(http(port, "/a").body).to eq("by hand")
  end
end

# The head of a deferred answer waits for its data, but not for long.
RSpec.describe Fastr::DeferredResponse, "as bytes" do
  def answer_to(request = "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", headers: {}, &block)
    port = serve_app(Fastr.app { get("/a") { defer_response(200, headers, &block) } })
    raw(port, request)
  end

  it "is one with a length when one piece and the end come soon, at once or from a callback" do
    at_once = answer_to { |response| response.send_data("whole") && response.succeed }
    soon = answer_to do |response|
      Fastr::Timer.new(0.001) { response.send_data("whole") && response.succeed }
    end
    expect([at_once, soon]).to all(match(/content-length: 5\r\n.*\r\n\r\nwhole\z/m))
    expect(at_once + soon).not_to include("transfer-encoding")
  end

  it "is one without a body when nothing is sent" do
    expect(answer_to(&:succeed)).to match(/content-length: 0\r\n.*\r\n\r\n\z/m)
  end

  it "is held to the length that its head declares, and has that once" do
    right = answer_to(headers: { "Content-Length" => "5" }) do |response|
      response.send_data("whole") && response.succeed
    end
    expect(right.scan(/content-length: \d+/)).to eq(["content-length: 5"])
    short = nil
    logged do
      short = answer_to(headers: { "Content-Length" => "99" }) do |response|
        response.send_data("short") && response.succeed
      end
    end
    expect(short).to match(/content-length: 99\r\n.*\r\n\r\nshort\z/m)
  end

  it "is chunked when more pieces come, in their order" do
    answer = answer_to do |response|
      %w[one two three].each { |piece| response.send_data(piece) }
      response.succeed
    end
    expect(answer).to include("transfer-encoding: chunked")
    expect(answer).to end_with("\r\n\r\n3\r\none\r\n3\r\ntwo\r\n5\r\nthree\r\n0\r\n\r\n")
  end

  it "sends its head though data comes much later, and each piece as it comes" do
    responses = Thread::Queue.new
    port = serve_app(Fastr.app { get("/a") { defer_response(200, {}) { |response| responses << response } } })
    connection(port) do |socket|
      socket.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
      expect(socket.readpartial(1000)).to start_with("HTTP/1.1 200 OK").and end_with("\r\n\r\n")
      response = responses.pop
      Fastr::Dispatcher.next_tick { response.send_data("late") }
      expect(socket.readpartial(1000)).to eq("4\r\nlate\r\n")
      Fastr::Dispatcher.next_tick { response.succeed }
      expect(socket.readpartial(1000)).to eq("0\r\n\r\n")
    end
  end

  it "sends a first piece at once, though the end comes later" do
    responses = Thread::Queue.new
    port = serve_app(Fastr.app do
      get("/a") { defer_response(200, {}) { |response| response.send_data("first") && (responses << response) } }
    end)
    connection(port) do |socket|
      socket.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
      expect(socket.readpartial(1000)).to end_with("\r\n\r\n5\r\nfirst\r\n")
      response = responses.pop
      Fastr::Dispatcher.next_tick { response.fail }
      expect(socket.read).to eq("")
    end
  end

  it "is cut visibly when it fails before its head has left" do
    expect(answer_to(&:fail)).to start_with("HTTP/1.1 200").and end_with("\r\n\r\n")
    half = answer_to { |response| response.send_data("half") && response.fail }
    expect(half).not_to match(/content-length|0\r\n\r\n\z/)
  end

  it "has no body for HEAD, and needs no end of the connection for HTTP/1.0" do
    whole = ->(response) { response.send_data("whole") && response.succeed }
    expect(answer_to("HEAD /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", &whole)).to end_with("\r\n\r\n")
    expect(answer_to("GET /a HTTP/1.0\r\n\r\n", &whole)).to match(/content-length: 5\r\n.*whole\z/m)
  end

  it "tells the application when the client leaves while the head waits" do
    events = Thread::Queue.new
    port = serve_app(Fastr.app do
      get("/a") { defer_response(200, {}) { |response| response.closed { events << :closed } && (events << :begun) } }
    end)
    connection(port) { |socket| socket.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n") && events.pop }
    expect(events.pop).to eq(:closed)
  end
end
