# frozen_string_literal: true

require "rack"
require "rack/lint"
require "tmpdir"

# Bodies of Rack applications that name a file with the same content (`to_path`).
RSpec.describe Fastr::RackHost, "with bodies that are files" do
  include Support::Wire

  around { |example| Dir.mktmpdir { |folder| (@folder = folder) && example.run } }

  let(:content) { Random.new(1).bytes(3_000_001) }
  let(:path) { "#{@folder}/large".tap { |path| File.binwrite(path, content) } }
  let(:closed) { [] }

  # A body of this path; `each` gives the chunks, or raises without any.
  def body(path, *chunks)
    closed = self.closed
    Object.new.tap do |body|
      body.define_singleton_method(:to_path) { path }
      body.define_singleton_method(:each) { |&block| chunks.empty? ? raise("it was read") : chunks.each(&block) }
      body.define_singleton_method(:close) { closed << true }
    end
  end

  def answers(port, *requests)
    talk(port) do |socket, reader|
      requests.map do |request|
        socket.write(request)
        reader.answer(to: request[/\A\w+/])
      end
    end
  end

  it "are sent without being read, again and again on one connection, and are closed" do
    port = serve_app(->(_env) { [200, { "X-A" => "1" }, body(path)] })
    first, second = answers(port, get, get)
    expect([first["content-length"], first["x-a"], first["transfer-encoding"]]).to eq(["3000001", "1", nil])
    expect([first.body == content, second.body == content, closed]).to eq([true, true, [true, true]])
  end

  it "may be gone before the client has them" do
    port = serve_app(lambda do |_env|
      [200, {}, body(path).tap { |body| body.define_singleton_method(:close) { File.delete(to_path) } }]
    end)
    expect(answers(port, get).first.body == content).to be(true)
  end

  it "have the length and status that the application says" do
    port = serve_app(->(_env) { [206, { "Content-Length" => "3000001", "Content-Range" => "x" }, body(path)] })
    answer = answers(port, get).first
    expect([answer.status, answer["content-range"], answer.body == content]).to eq([206, "x", true])
  end

  it "may be empty" do
    File.write("#{@folder}/empty", "")
    port = serve_app(->(_env) { [200, {}, body("#{@folder}/empty")] })
    expect(answers(port, get, get).map { |answer| [answer["content-length"], answer.body] }).to eq([["0", ""]] * 2)
  end

  it "are read by Ruby when there is no such file, when it is no regular one, and when its length is another" do
    File.mkfifo("#{@folder}/pipe")
    paths = ["#{@folder}/none", @folder, "#{@folder}/pipe", "a\0b", "/dev/zero", nil, path]
    port = serve_app(->(_env) { [200, { "Content-Length" => "6" }, body(paths.shift, "abc", "def")] })
    expect(answers(port, *[get] * paths.size).map(&:body)).to eq(["abcdef"] * 7)
    expect(closed.size).to eq(7)
  end

  it "have no content for HEAD and with 304" do
    statuses = [200, 304]
    port = serve_app(->(_env) { [statuses.shift, { "Content-Length" => "3000001" }, body(path, "")] })
    head, unmodified = answers(port, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", get)
    expect([head["content-length"], unmodified.status]).to eq(["3000001", 304])
  end

  it "end the connection when the request's body was not read" do
    port = serve_app(->(_env) { [200, {}, body(path)] })
    request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"
    answer = answers(port, request).first
    expect([answer["connection"], answer.body == content]).to eq(["close", true])
  end

  it "come from Rack::Files, whole and in parts" do
    expected = content
    name = File.basename(path)
    port = serve_app(Rack::Lint.new(Rack::Files.new(@folder)))
    whole, part = answers(port, get("/#{name}"),
                          "GET /#{name} HTTP/1.1\r\nHost: a\r\nRange: bytes=5-2000000\r\n\r\n")
    expect([whole.body == expected, part.status, part.body == expected[5..2_000_000]]).to eq([true, 206, true])
  end

  it "are cut when they shrink while they are sent" do
    File.truncate(path, 50_000_000) # more than the system takes from the server at once
    port = serve_app(->(_env) { [200, {}, body(path)] })
    talk(port) do |socket, reader|
      socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_RCVBUF, 32_768)
      socket.write(get)
      socket.wait_readable(10)
      File.truncate(path, 1000)
      outcome = begin
        reader.answer
      rescue SystemCallError, EOFError => e
        e.class
      end
      expect(outcome).to be(EOFError).or be(Errno::ECONNRESET)
    end
  end
end
