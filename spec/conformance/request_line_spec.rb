# frozen_string_literal: true

# RFC 9112 section 3: the request line, and the authority of a request.
RSpec.describe "HTTP/1.1 request lines" do
  def seen(request)
    env = request.build_env({})
    request.respond(200, {}, [request.method, request.path, request.host, request.header("host"),
                              *env.values_at("HTTP_HOST", "SERVER_NAME", "SERVER_PORT")].join(" "))
  end

  it "gives unknown methods to the application, case and all" do
    port = serve { |request| request.respond(200, {}, request.method) }
    expect(%w[PURGE get M-SEARCH].map { |method| ask(port, message(method, "/")).body }).to eq(%w[PURGE get M-SEARCH])
  end

  it "takes an absolute target, whose authority replaces the Host field for everyone (3.2.2)" do
    port = serve { |request| seen(request) }
    expect(ask(port, get("http://b.example:81/p?q")).body)
      .to eq("GET /p b.example:81 b.example:81 b.example:81 b.example 81")
    expect(ask(port, get("http://b.example")).body).to start_with("GET / b.example ")
  end

  it "answers OPTIONS * for the server as a whole (RFC 9110, 9.3.7)" do
    port = serve { |request| seen(request) }
    answer = ask(port, message("OPTIONS", "*"))
    expect(answer.status).to eq(204)
    expect(answer["allow"]).to include("GET", "OPTIONS")
  end

  it "takes a request line of 8,000 bytes" do
    port = serve { |request| request.respond(200, {}, request.path.bytesize.to_s) }
    expect(ask(port, get("/#{'a' * 7_970}")).body).to eq("7971")
  end

  it "refuses a longer request line with 414, before its end has come" do
    port = serve_echo
    expect(ask_last(port, "GET /#{'a' * 9_000}").status).to eq(414)
  end

  it "takes what looks like a path outside of the root as the router's business, never as a failure" do
    port = serve_echo("public" => __dir__)
    statuses = ["/../a", "/..%2f..%2fetc/passwd", "/%00", "/a%ff", "//a", "/%zz", "/a%"].map do |target|
      ask(port, get(target)).status
    end
    expect(statuses & (500..599).to_a).to be_empty
    expect(handler.failures).to be_empty
  end

  {
    "two spaces" => ["GET  / HTTP/1.1", 400],
    "a tab for a space" => ["GET\t/ HTTP/1.1", 400],
    "a space behind the version" => ["GET / HTTP/1.1 ", 400],
    "a space in the target" => ["GET /a b HTTP/1.1", 400],
    "a fragment" => ["GET /a#b HTTP/1.1", 400],
    "bytes beyond ASCII in the target" => ["GET /\xC3\xA4 HTTP/1.1".b, 400],
    "a target without a slash" => ["GET a HTTP/1.1", 400],
    "a method that is no token" => ["G(T / HTTP/1.1", 400],
    "an endless method (passenger CVE-2025-26803)" => ["#{'G' * 100} / HTTP/1.1", 501],
    "CONNECT" => ["CONNECT a:80 HTTP/1.1", 501],
    "* with another method than OPTIONS" => ["GET * HTTP/1.1", 400],
    "another scheme" => ["GET ftp://a/ HTTP/1.1", 400],
    "an absolute target without a host" => ["GET http:///a HTTP/1.1", 400],
    "user information in the target" => ["GET http://u:p@a/ HTTP/1.1", 400]
  }.each do |what, (line, status)|
    it "refuses #{what} with #{status}" do
      port = serve_echo
      expect(ask_last(port, "#{line}\r\nHost: a\r\n\r\n".b).status).to eq(status)
    end
  end

  describe "Host (3.2)" do
    {
      "no Host" => "X: a", "an empty Host" => "Host:", "two Hosts" => "Host: a\r\nHost: a",
      "two different Hosts" => "Host: a\r\nhost: b", "a space in Host" => "Host: a b",
      "user information in Host" => "Host: u@a", "a path in Host (rack CVE-2026-34835)" => "Host: a/b",
      "a question mark in Host" => "Host: a?b", "a port that is none" => "Host: a:b", "port 65536" => "Host: a:65536",
      "an open bracket" => "Host: [::1", "a list of Hosts" => "Host: a, b", "a backslash in Host" => "Host: a\\b"
    }.each do |what, line|
      it "refuses #{what}" do
        port = serve_echo
        expect(ask_last(port, "GET / HTTP/1.1\r\n#{line}\r\n\r\n").status).to eq(400)
      end
    end

    it "takes names, addresses and ports" do
      port = serve { |request| request.respond(200, {}, request.host) }
      hosts = %w[a.example a.example:8080 127.0.0.1 [::1]:80 a_b]
      expect(hosts.map { |host| ask(port, get("/", Host: host)).body }).to eq(hosts)
    end

    it "is not asked of HTTP/1.0" do
      port = serve_echo
      expect(ask_last(port, "GET / HTTP/1.0\r\n\r\n").status).to eq(200)
    end
  end
end
