# frozen_string_literal: true

# RFC 9112 section 5 and RFC 9110 section 5: fields, both ways.
RSpec.describe "HTTP/1.1 fields" do
  let(:text) { Support::Dispatching::TEXT }

  def serve_headers(options = {})
    serve(options) do |request|
      request.respond(200, text, request.headers.sort.map do |pair|
                                   pair.join("=")
                                 end.join("\n"))
    end
  end

  it "ignores case in names and white space around values" do
    port = serve_headers
    expect(ask(port, "GET / HTTP/1.1\r\nHOST: a\r\nx-A: \t b c \t\r\nX-Empty:\r\n\r\n").body)
      .to eq("host=a\nx-a=b c\nx-empty=")
  end

  it "joins repeated fields with a comma, cookies with a semicolon" do
    port = serve_headers
    expect(ask(port, message("GET", "/", "X-A" => %w[1 2], "Cookie" => %w[a=1 b=2])).body)
      .to eq("cookie=a=1; b=2\nhost=a\nx-a=1, 2")
  end

  it "keeps bytes beyond ASCII (5.5)" do
    port = serve_headers
    expect(ask(port, message("GET", "/", "X-A" => "\xE4\xFF".b)).body).to end_with("x-a=\xE4\xFF".b)
  end

  it "drops names with an underscore, which could replace a proxy's field (puma CVE-2024-45614)" do
    port = serve_headers
    expect(ask(port, message("GET", "/", "X_Forwarded_For" => "1.1.1.1", "X-Forwarded-For" => "2.2.2.2")).body)
      .to eq("host=a\nx-forwarded-for=2.2.2.2")
  end

  it "keeps them when told to" do
    port = serve_headers("keep_underscores" => true)
    expect(ask(port, message("GET", "/", "X_A" => "1")).body).to eq("host=a\nx_a=1")
  end

  it "takes the scheme from the connection, not from the client (Bandit CVE-2026-39807)" do
    port = serve { |request| request.respond(200, text, request.env["rack.url_scheme"]) }
    expect(ask(port, message("GET", "/", "X-Forwarded-Proto" => "https")).body).to eq("http")
  end

  {
    "a folded line (5.2)" => "X: a\r\n b", "a line folded with a tab" => "X: a\r\n\tb",
    "a space before the colon (5.1)" => "Transfer-Encoding : chunked", "a name of nothing" => ": a",
    "a line without a colon" => "Xa", "a bracket in a name" => "X(a): b", "a name beyond ASCII" => "X\xE4: b".b,
    "a space in a name" => "X a: b"
  }.each do |what, line|
    it "refuses #{what}" do
      port = serve_headers
      expect(ask_last(port, "GET / HTTP/1.1\r\nHost: a\r\n".b + line + "\r\n\r\n".b).status).to eq(400)
    end
  end

  it "refuses more fields than the limit with 431" do
    port = serve_headers
    expect(ask(port, message("GET", "/", "X" => ["1"] * 99)).status).to eq(200)
    expect(ask_last(port, message("GET", "/", "X" => ["1"] * 100)).status).to eq(431)
  end

  it "refuses fields beyond the limit of their bytes with 431, while they come" do
    port = serve_headers
    expect(ask(port, message("GET", "/", "X" => "a" * 65_000)).status).to eq(200)
    expect(ask_last(port, "GET / HTTP/1.1\r\nHost: a\r\nX: #{'a' * 66_000}").status).to eq(431)
  end

  it "reads fields that regular expressions choke on in no time (rack CVE-2024-26146, 2024-39316)" do
    port = serve_headers
    hostile = { "Accept" => "#{',' * 15_000}x", "Cookie" => "#{" " * 15_000};", "Range" => "bytes=#{'-' * 15_000}",
                "If-None-Match" => "\"#{' ' * 15_000}" }
    expect(elapsed { expect(ask(port, message("GET", "/", hostile)).status).to eq(200) }).to be < 1
  end

  describe "of answers" do
    {
      "a line break in a value (puma CVE-2020-5247)" => { "x-a" => "b\r\nSet-Cookie: c=d" },
      "a bare LF in a value (puma CVE-2020-5249)" => { "x-a" => "b\nc" },
      "a bare CR in a value" => { "x-a" => "b\rc" },
      "a NUL in a value" => { "x-a" => "b\0c" },
      "a line break in one of several values" => { "set-cookie" => ["a=b", "c=d\r\nX: y"] },
      "a line break in a redirect" => { "location" => "/\r\nSet-Cookie: c=d" },
      "a line break in a name" => { "x-a\r\nSet-Cookie: c" => "d" },
      "a colon in a name" => { "x-a: b" => "c" },
      "a name of nothing" => { "" => "c" }
    }.each do |what, headers|
      it "never hold #{what}: the application gets the error, the client a plain 500" do
        port = serve { |request| request.respond(200, headers, "x") }
        answer = ask(port, get)
        expect(answer.status).to eq(500)
        expect(answer.fields.map(&:first)).not_to include("set-cookie")
        expect(handler.failures.map(&:class)).to eq([ArgumentError])
      end

      it "never hold #{what} when they are streamed" do
        port = serve { |request| request.start(200, headers) }
        expect(ask(port, get).status).to eq(500)
      end
    end

    it "come one by one for several values" do
      port = serve { |request| request.respond(200, { "set-cookie" => %w[a=1 b=2], "x-nil" => nil }, "") }
      answer = ask(port, get)
      expect(answer.all("set-cookie")).to eq(%w[a=1 b=2])
      expect(answer["x-nil"]).to be_nil
    end

    it "keep bytes beyond ASCII" do
      port = serve { |request| request.respond(200, { "x-a" => "\xE4\xFF".b }, "") }
      expect(ask(port, get)["x-a"]).to eq("\xE4\xFF".b)
    end
  end
end
