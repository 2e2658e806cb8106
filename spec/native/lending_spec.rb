# frozen_string_literal: true

# Large strings are sent from Ruby's own memory: it must stay as it was until the last byte is out, and no longer.
RSpec.describe "Large bodies", limit: 120 do
  include Support::Dispatching
  include Support::Wire

  # Nothing else in the process is so long.
  let(:length) { 6_000_011 }
  let(:text) { Support::Dispatching::TEXT }
  # What shares a string's bytes is of its class.
  let(:page) { Class.new(String) }

  def content(seed) = Random.new(seed).bytes(length)

  def pages
    GC.start
    ObjectSpace.each_object(page).count
  end

  # What a freed string's memory would be given to.
  def overwrite
    GC.start
    GC.compact if GC.respond_to?(:compact)
    Array.new(4) { "!" * length }.clear
  end

  # Asks, and reads only after the block.
  def later(port, path = "/")
    talk(port) do |socket, reader|
      socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_RCVBUF, 32_768)
      socket.write(get(path))
      socket.wait_readable(10)
      yield
      reader.answer.body
    end
  end

  it "arrives whole when nothing but its answer holds the string" do
    port = serve { |request| request.respond(200, text, content(1).freeze) }
    body = later(port) { 3.times { overwrite } }
    expect(body == content(1)).to be(true)
  end

  it "arrives whole as a piece of a stream" do
    port = serve do |request|
      request.start(200, text)
      2.times { |seed| request.write(content(seed).freeze) }
      request.finish
    end
    body = later(port) { 3.times { overwrite } }
    expect(body == content(0) + content(1)).to be(true)
  end

  it "lets many clients read one string" do
    constant = content(2).freeze
    port = serve { |request| request.respond(200, text, constant) }
    bodies = Array.new(4) { Thread.new { later(port) { Thread.pass } } }.map(&:value)
    expect(bodies.map { |body| body == constant }).to eq([true] * 4)
  end

  {
    "<<" => ->(body) { body << ("!" * 100) },
    "prepend" => ->(body) { body.prepend("!") },
    "replace" => ->(body) { body.replace("!" * body.bytesize) },
    "clear" => :clear.to_proc,
    "setbyte" => ->(body) { 100.times { |at| body.setbyte(body.bytesize - 1 - at, 33) } },
    "upcase!" => :upcase!.to_proc,
    "slice!" => ->(body) { body.slice!(100, 4_000_000) },
    "[]=" => ->(body) { body[-4_000_000..] = "!" },
    "squeeze!" => :squeeze!.to_proc,
    "force_encoding" => ->(body) { body.force_encoding("UTF-32LE") << "!".encode("UTF-32LE") }
  }.each do |change, call|
    it "sends a string as it was when it was given, whatever #{change} makes of it" do
      port = serve do |request|
        body = content(3)
        request.respond(200, text, body)
        call.call(body)
      end
      expect(later(port) { 2.times { overwrite } } == content(3)).to be(true)
    end
  end

  it "sends a part of a string, and copies of one, when the whole is changed or gone" do
    port = serve do |request|
      whole = content(3)
      body = case request.path
             when "/end" then whole[1..]
             when "/frozen-end" then whole.byteslice(1..).freeze
             when "/middle" then whole.byteslice(1, length - 2)
             when "/copy" then whole.dup
             else whole.freeze.dup
             end
      request.respond(200, text, body)
      [whole, body].each { |string| string.replace("!" * length) unless string.frozen? }
    end
    { "/end" => 1..-1, "/frozen-end" => 1..-1, "/middle" => 1..-2, "/copy" => 0..-1, "/frozen-copy" => 0..-1 }
      .each do |path, range|
        expect(later(port, path) { overwrite } == content(3).byteslice(range)).to be(true), path
      end
  end

  it "sends what a locked string held, and the thread that locked it goes on" do
    reading, writing = IO.pipe
    body = content(3)
    reader = Thread.new { reading.read(length, body) }
    eventually { Thread.pass || locked?(body) }
    port = serve { |request| request.respond(200, text, body) }
    sent = later(port) { writing.write("!" * length) && reader.value }
    expect([sent == content(3), body == "!" * length]).to eq([true, true])
  ensure
    [reading, writing].each(&:close)
  end

  def locked?(string)
    string << ""
    false
  rescue RuntimeError
    true
  end

  it "sends one string again and again while it grows" do
    body = content(3)
    port = serve do |request|
      request.respond(200, text, body)
      body << "!"
    end
    bodies = Array.new(3) { later(port) { nil } }
    expect(bodies == ["", "!", "!!"].map { |end_of| content(3) + end_of }).to be(true)
  end

  it "lets go of strings that were sent, and of those whose client left" do
    port = serve { |request| request.respond(200, text, request.path == "/" ? page.new(content(4)) : "") }
    4.times { later(port) { nil } }
    4.times do
      talk(port) do |socket, _|
        socket.write(get)
        socket.wait_readable(10)
      end
    end
    eventually { held == [0, 0, 0] }
    talk(port) { |socket, reader| socket.write(get("/next")) && reader.answer }
    on_dispatcher { nil }
    expect(eventually { pages <= 2 }).to be_truthy # the stack may still show one, and what it shares
  end

  it "holds the string while a client is slow" do
    port = serve { |request| request.respond(200, text, page.new(content(5))) }
    seen = nil
    later(port) { seen = pages }
    expect(seen).to be >= 1
  end

  # None of the strings is left; the allocator may keep some of the 600 MB for the next ones.
  it "needs no more memory after two thousand answers" do
    port = serve { |request| request.respond(200, text, page.new("x" * 300_000)) }
    before, after = Array.new(2) do
      talk(port) { |socket, reader| 1000.times { socket.write(get) && reader.answer } }
      on_dispatcher { nil }
      expect(eventually { pages <= 2 }).to be_truthy # the stack may still show one, and what it shares
      File.read("/proc/self/statm").split[1].to_i * 4 / 1024
    end
    expect(after - before).to be < 100
  end
end
