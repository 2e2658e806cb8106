# frozen_string_literal: true

RSpec.describe Fastr::RackHost do
  def answer(path = "/", &app)
    http(serve_app(app), path)
  end

  # A body that tells when it was closed.
  def closing(chunks, closed)
    Object.new.tap do |body|
      body.define_singleton_method(:each) do |&block|
        chunks.each do |chunk|
          chunk.is_a?(Exception) ? raise(chunk) : block.call(chunk)
        end
      end
      body.define_singleton_method(:close) { closed << true }
    end
  end

  it "gives a Rack env and sends an Array body" do
    seen = nil
    response = answer("/a%20b?c=d") { |env| (seen = env) && [201, { "X-A" => "1" }, %w[a b]] }
    expect([response.code, response["x-a"], response.body]).to eq(%w[201 1 ab])
    expect(seen.values_at("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "SCRIPT_NAME", "rack.url_scheme"))
      .to eq(["GET", "/a%20b", "c=d", "", "http"])
  end

  it "reads the body from rack.input" do
    port = serve_app(->(env) { [200, {}, [env["rack.input"].read(3), env["rack.input"].read.upcase]] })
    expect(http(port, "/", method: "POST", body: "abcdef").body).to eq("abcDEF")
  end

  it "passes Rack::Lint" do
    require "rack"
    require "rack/lint"
    app = Rack::Lint.new(->(env) { [200, { "content-type" => "text/plain" }, [env["rack.input"].read.to_s]] })
    port = serve_app(app)
    expect(http(port, "/", method: "POST", body: "linted",
                           headers: { "Content-Type" => "text/plain" }).body).to eq("linted")
    expect(http(port, "/x?y=z").code).to eq("200")
  end

  it "sends header values as Arrays and as lines" do
    response = answer { [200, { "X-A" => %w[1 2], "X-B" => "3\n4" }, []] }
    expect([response.get_fields("x-a"), response.get_fields("x-b")]).to eq([%w[1 2], %w[3 4]])
  end

  it "streams enumerable bodies and closes them" do
    closed = []
    body = closing(%w[one two], closed)
    expect(answer { [200, {}, body] }.body).to eq("onetwo")
    expect(closed).to eq([true])
  end

  it "closes a body that raises, and cuts the answer visibly" do
    closed = []
    body = closing(["one", RuntimeError.new("in each")], closed)
    bytes = raw(serve_app(->(_env) { [200, {}, body] }), "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    expect(bytes).to include("one")
    expect(bytes).not_to end_with("0\r\n\r\n")
    expect(closed).to eq([true])
  end

  it "sends a body of known length in one piece" do
    response = answer { [200, { "Content-Length" => "6" }, closing(%w[one two], [])] }
    expect([response["content-length"], response["transfer-encoding"], response.body]).to eq(["6", nil, "onetwo"])
  end

  it "refuses a body of known length that has another, except where there is none" do
    app = ->(env) { [200, { "Content-Length" => env["PATH_INFO"][1..] }, closing(%w[one two], [])] }
    port = serve_app(app)
    log = logged { expect(%w[/5 /7].map { |path| http(port, path).code }).to eq(%w[500 500]) }
    expect(log).to include("GET /7 Fastr::ResponseError: the body has 6 bytes, its Content-Length is 7")
    empty = serve_app(->(_env) { [200, { "Content-Length" => "7" }, closing([], [])] })
    expect(http(empty, "/", method: "HEAD")["content-length"]).to eq("7")
  end

  it "calls callable bodies with a stream (Rack 3)" do
    body = ->(stream) { stream << "called" && stream.write("!") && stream.close }
    expect(answer { [200, {}, body] }.body).to eq("called!")
  end

  it "answers later: -1, throw :async, async.callback with anything that has to_a" do
    later = { "/minus" => [200, {}, ["minus"]], "/throw" => [200, {}, ["throw"]],
              "/object" => Class.new { def to_a = [202, {}, ["object"]] }.new }
    app = lambda do |env|
      Fastr::Reactor.add_timer(0.01) { env["async.callback"].call(later[env["PATH_INFO"]]) }
      env["PATH_INFO"] == "/minus" ? [-1, {}, []] : throw(:async)
    end
    port = serve_app(app)
    expect(later.keys.map { |path| http(port, path).body }).to eq(%w[minus throw object])
  end

  it "tells async.close when the answer is complete, and when the client leaves before" do
    events = Thread::Queue.new
    app = lambda do |env|
      env["async.close"].callback { events << env["PATH_INFO"] }
      env["PATH_INFO"] == "/later" ? throw(:async) : [200, {}, ["x"]]
    end
    port = serve_app(app)
    http(port, "/now")
    expect(events.pop).to eq("/now")
    connection(port) { |socket| socket.write("GET /later HTTP/1.1\r\nHost: a\r\n\r\n") && sleep(0.05) }
    expect(events.pop).to eq("/later")
  end

  it "streams a deferrable body until it succeeds, and tells it when the client leaves" do
    bodies = Thread::Queue.new
    app = lambda do |_env|
      body = Fastr::DeferredResponse.new
      bodies << body
      [200, {}, body]
    end
    port = serve_app(app)
    answer = Thread.new { http(port, "/").body }
    body = bodies.pop
    Fastr::Dispatcher.next_tick { body.send_data("a;") && body.send_data("b") && body.succeed }
    expect(answer.value).to eq("a;b")
    connection(port) { |socket| socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n") && socket.readpartial(20) }
    gone = Thread::Queue.new
    bodies.pop.errback { gone << true }
    expect(gone.pop).to be(true)
  end

  it "lets a fiber wait without holding others up" do
    port = serve_app(lambda { |env|
                       sleep(0.2) if env["PATH_INFO"] == "/slow"
                       [200, {}, ["x"]]
                     })
    slow = Thread.new { http(port, "/slow") }
    expect(elapsed { http(port, "/fast") }).to be < 0.15
    slow.join
  end

  it "runs rack.after_reply and rack.response_finished, also after a failure" do
    seen = Thread::Queue.new
    app = lambda do |env|
      env["rack.after_reply"] << -> { seen << :reply }
      env["rack.response_finished"] << ->(_env, status, _headers, error) { seen << [status, error&.message] }
      env["PATH_INFO"] == "/boom" ? raise("boom") : [200, {}, []]
    end
    port = serve_app(app)
    http(port, "/")
    expect([seen.pop, seen.pop]).to eq([:reply, [200, nil]])
    http(port, "/boom")
    expect([seen.pop, seen.pop]).to eq([:reply, [nil, "boom"]])
  end

  it "answers 500 to a failure, to no response and to what is none, and goes on" do
    port = serve_app(lambda { |env|
                       { "/boom" => -> { raise "x" }, "/nil" => -> {}, "/odd" => lambda {
                                                                                   5
                                                                                 } }.fetch(env["PATH_INFO"]) do
                         lambda {
                           [200, {}, ["ok"]]
                         }
                       end.call
                     })
    expect(%w[/boom /nil /odd /].map { |path| http(port, path).code }).to eq(%w[500 500 500 200])
  end

  it "ends a request whose callback raises later" do
    app = lambda do |env|
      Fastr::Reactor.add_timer(0.01) { raise "in the timer" } if env["PATH_INFO"] == "/timer"
      Fastr::Reactor.next_tick { raise "in the tick" } if env["PATH_INFO"] == "/tick"
      throw :async
    end
    port = serve_app(app)
    expect(%w[/timer /tick].map { |path| http(port, path).code }).to eq(%w[500 500])
  end

  it "prints numbers in headers and leaves nil out" do
    response = answer { [200, { "X-N" => 5, "X-Nil" => nil }, ["x"]] }
    expect([response["x-n"], response["x-nil"]]).to eq(["5", nil])
  end

  it "serves a Fastr application natively" do
    app = Fastr.app { get("/") { "native" } }
    expect(described_class.wrap(app)).to equal(app)
    klass = Class.new(Fastr::Application) { get("/") { "class" } }
    expect(described_class.wrap(klass)).to equal(klass.shared)
  end
end

RSpec.describe Fastr::Application do
  describe "on the native path" do
    it "serves blocks, controllers, JSON and errors" do
      stub_const("NativeController", Class.new(Fastr::Controller) do
        def show = render(:text, "#{params[:id]} #{params[:q]}")
        def boom = raise("kaput")
      end)
      port = serve_app(Fastr.app do
        get("/hello/:name") { |name| "Hello #{name}" }
        get("/json") { { a: 1 } }
        get("/n/:id", to: "native#show")
        get("/boom", to: "native#boom")
      end)
      expect(%w[/hello/a%2Fb /json /n/7?q=x].map do |path|
               http(port, path).body
             end).to eq(["Hello a/b", '{"a":1}', "7 x"])
      expect([http(port, "/boom").code, http(port, "/none").code,
              http(port, "/json", method: "POST").code]).to eq(%w[500 404 405])
    end

    it "streams with a fiber that waits, and cuts visibly on an error" do
      port = serve_app(Fastr.app do
        get("/a") { stream { |out| 3.times { |i| sleep(0.01) && out << "#{i} " } } }
        get("/b") { stream { |out| (out << "x") && raise("late") } }
      end)
      expect(http(port, "/a").body).to eq("0 1 2 ")
      expect(raw(port, "GET /b HTTP/1.1\r\nHost: a\r\n\r\n")).not_to end_with("0\r\n\r\n")
    end

    it "tells a stream that the client has left" do
      ended = Thread::Queue.new
      port = serve_app(Fastr.app do
        get("/") do
          stream { |out| loop { (out << "x" * 10_000) && sleep(0.001) } }
        ensure
          nil
        end
        get("/e") do
          stream do |out|
            loop { (out << "x" * 10_000) && sleep(0.001) }
          ensure
            ended << true
          end
        end
      end)
      connection(port) { |socket| socket.write("GET /e HTTP/1.1\r\nHost: a\r\n\r\n") && socket.readpartial(100) }
      expect(ended.pop).to be(true)
    end

    it "sees each request in plugins that dispatch" do
      plugin = Module.new do
        def self.after_dispatch(_app, _env, response) = [response[0], response[1].merge("X-P" => "1"), response[2]]
      end
      port = serve_app(Fastr.app do
        configure { |settings| settings.plugins << plugin }
        get("/") { "x" }
      end)
      expect([http(port, "/")["x-p"], http(port, "/none")["x-p"]]).to eq(%w[1 1])
    end

    it "mounts a Rack application" do
      rack = ->(env) { [200, {}, ["#{env['SCRIPT_NAME']} #{env['PATH_INFO']}"]] }
      port = serve_app(Fastr.app { mount rack, at: "/m" })
      expect(http(port, "/m/x").body).to eq("/m /x")
    end

    it "sets several cookies" do
      port = serve_app(Fastr.app { get("/") { set_cookie("a", "1") && set_cookie("b", "2") && "x" } })
      expect(http(port, "/").get_fields("set-cookie")).to eq(["a=1;", "b=2;"])
    end
  end
end
