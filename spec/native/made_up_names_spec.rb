# frozen_string_literal: true

# Names that no literal of any program keeps alive, given to native code while the collector runs at every allocation.
# `rake spec:hostile` is where this shows something; in the whole suite's heap each collection takes long, and there are
# only two for each block.
RSpec.describe "Names made at run time", limit: 120 do
  include Support::Dispatching

  def word
    Array.new(12) { rand(97..122).chr }.join
  end

  def stressed(&block)
    return Support::HostileGC.stress(&block) if ENV["FASTR_GC"]

    GC.start
    yield.tap { GC.start }
  end

  it "come through as header fields, paths and queries, both ways" do
    name, answered = Array.new(2) { "x-#{word}" }
    path = "/#{word}"
    query = "#{word}=1"
    value = word
    port = serve do |request|
      seen = stressed do
        env = request.env
        [env["PATH_INFO"], env["QUERY_STRING"], env["HTTP_#{name.upcase.tr("-", "_")}"], request.headers[name]]
      end
      stressed { request.respond(200, { answered.dup => seen.inspect, "x-#{word}" => word }, word) }
    end
    response = http(port, "#{path}?#{query}", headers: { name => value })
    expect([response.code, response[answered]]).to eq(["200", [path, query, value, value].inspect])
  end

  it "come through as parameters and cookies" do
    pairs = Array.new(8) { [word, word] }
    text = pairs.map { |pair| pair.join("=") }
    expect(stressed { Fastr::Native.parse_query(text.join("&")) }).to eq(pairs)
    expect(stressed { Fastr::Native.parse_cookies(text.join("; ")) }).to eq(pairs.to_h)
    names = Array.new(5) { word }
    expect(stressed { Fastr::Native.split_name(names.reduce { |all, name| "#{all}[#{name}]" }) }).to eq(names)
  end

  it "come through as columns, binds and messages" do
    names = Array.new(6) { word }
    values = Array.new(6) { word }
    sql = "select #{names.map { |name| "? as #{name}" }.join(", ")}"
    rows = stressed { memory_database.await(sql, values) }
    expect(stressed { [rows.columns, rows.to_a, rows.excerpt(names, 0, 1).hash_at(0)] })
      .to eq([names, [names.zip(values).to_h], names.zip(values).to_h])
    missing = word
    expect { stressed { memory_database.await("select #{missing}") } }
      .to raise_error(AsyncRecord::QueryError, /#{missing}/)
  end
end
