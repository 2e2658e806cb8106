# frozen_string_literal: true

# Large frozen strings are sent from Ruby's own memory: they must live until the last byte is out, and no longer.
RSpec.describe "Frozen bodies", limit: 120 do
  include Support::Dispatching
  include Support::Wire

  # Nothing else in the process is so long.
  let(:length) { 6_000_011 }
  let(:text) { Support::Dispatching::TEXT }

  def content(seed) = Random.new(seed).bytes(length)

  def lent
    GC.start
    ObjectSpace.each_object(String).count { |string| string.frozen? && string.bytesize == length }
  end

  # What a freed string's memory would be given to.
  def overwrite
    GC.start
    GC.compact if GC.respond_to?(:compact)
    Array.new(4) { "!" * length }.clear
  end

  # Asks, and reads only after the block.
  def later(port)
    talk(port) do |socket, reader|
      socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_RCVBUF, 32_768)
      socket.write(get)
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

  it "sends a string that is not frozen as it was when it was given" do
    port = serve do |request|
      body = content(3)
      request.respond(200, text, body)
      body.replace("!" * length)
    end
    expect(later(port) { overwrite } == content(3)).to be(true)
  end

  it "lets go of strings that were sent, and of those whose client left" do
    port = serve { |request| request.respond(200, text, request.path == "/" ? content(4).freeze : "") }
    later(port) { Thread.pass }
    talk(port) do |socket, _|
      socket.write(get)
      socket.wait_readable(10)
    end
    eventually { held == [0, 0, 0] }
    talk(port) { |socket, reader| socket.write(get("/next")) && reader.answer }
    on_dispatcher { nil }
    expect(eventually { lent <= 1 }).to be_truthy # the stack may still show one
  end

  it "holds the string while a client is slow" do
    port = serve { |request| request.respond(200, text, content(5).freeze) }
    seen = nil
    later(port) { seen = lent }
    expect(seen).to be >= 1
  end
end
