# frozen_string_literal: true

RSpec.describe AsyncRecord::Relation, "streaming" do
  let(:database) { sqlite_database }
  let(:size) { 2500 }

  before do
    database.query("create table lines (id integer primary key, text varchar)")
    database.query(<<~SQL, size)
      insert into lines (text) with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
      select 'line ' || i from n
    SQL
    model("Line", database)
  end

  def idle
    eventually { database.stats[:busy].zero? }
  end

  it "yields every record once, in the relation's order" do
    seen = []
    expect(Line.order(id: :desc).stream(batch: 400) { |line| seen << line }).to eq(size)
    expect([seen.map(&:id), seen.last.text, seen.last.class]).to eq([size.downto(1).to_a, "line 1", Line])
    idle
  end

  it "works in a fiber, in a thread and as an Enumerator" do
    expect(in_fiber { Line.stream(batch: 1000) { |_| nil } }).to eq(size)
    expect(Thread.new { Line.where(id: ..3).stream.map(&:id) }.value).to eq([1, 2, 3])
    expect(Line.where(id: 0).stream { raise "none" }).to eq(0)
    expect(Line.none.stream { raise "none" }).to eq(0)
  end

  it "yields plain rows of any SQL" do
    rows = []
    count = database.stream("select id, text from lines where id between ? and :last", 2, last: 4, batch: 2) do |row|
      rows << row
    end
    expect([count, rows.first, rows.size]).to eq([3, { "id" => 2, "text" => "line 2" }, 3])
  end

  it "lets other work run between batches" do
    ticks = 0
    in_fiber do
      ticking = AsyncRecord.async { 50.times { (ticks += 1) && sleep(0) } }
      Line.stream(batch: 50) { |_| nil }
      ticking.await
    end
    expect(ticks).to eq(50)
  end

  it "stops its statement when the block is left, whichever way" do
    Line.stream(batch: 10) { |line| break if line.id == 15 }
    idle
    expect { Line.stream(batch: 10) { raise "stop" } }.to raise_error("stop")
    idle
    work = AsyncRecord.async { Line.stream(batch: 10) { sleep } }
    eventually { database.stats[:queries].positive? }
    work.cancel
    expect { Timeout.timeout(0.05) { Line.stream(batch: 10) { sleep } } }.to raise_error(Timeout::Error)
    expect(Line.count).to eq(size)
  end

  it "runs in the open transaction, and in one that is handed on" do
    AsyncRecord.transaction(database: database) do |tx|
      Line.where(id: 1).update_all(text: "mine")
      expect(Line.order(:id).stream(batch: 10).first.text).to eq("mine")
      expect(called_back { |done| AsyncRecord.async { done.call(Line.using(tx).stream { |_| nil }) } }).to eq(size)
    end
  end

  it "refuses a statement that would wait for the stream it is in, and takes those of others in turn" do
    AsyncRecord.transaction(database: database) do
      expect { Line.stream(batch: 10) { |line| line.update!(text: "x") } }
        .to raise_error(AsyncRecord::QueryError, /busy with the stream.*find_each/)
      Line.where(id: 1).update_all(text: "x")
      amid = Thread::Queue.new
      other = AsyncRecord.async { amid.pop && Line.where(id: 2).update_all(text: "y") }
      Line.stream(batch: 1000) { |line| amid << true if line.id == 1 }
      expect(other.await).to eq(1)
    end
    expect(Line.where(id: [1, 2]).order(:id).pluck(:text)).to eq(%w[x y])
    Line.stream(batch: 10) { |line| line.id == 3 ? (break line.update!(text: "z")) : next }
    expect(Line.find(3).text).to eq("z")
  end

  it "raises what is wrong with the statement, with its SQL" do
    expect { Line.where(AsyncRecord.sql("nonsense")).stream { |_| nil } }
      .to raise_error(AsyncRecord::QueryError) { |error| expect(error.sql).to include("nonsense") }
    expect { Line.stream(batch: 0) { |_| nil } }.to raise_error(ArgumentError)
    expect { database.stream("select 1") }.to raise_error(ArgumentError, /block/)
  end

  it "tells subscribers when it has ended" do
    events = []
    subscription = AsyncRecord.subscribe(:query) { |event| events << event }
    Line.stream(batch: 1000) { |_| nil }
    expect([events.last.rows, events.last.name]).to eq([size, "Line Load"])
  ensure
    AsyncRecord.unsubscribe(subscription)
  end

  describe "as JSON" do
    def expected(relation)
      JSON.parse(relation.to_json_bytes)
    end

    it "writes the same array as to_json_bytes, in pieces" do
      pieces = []
      expect(Line.order(:id).stream_json(pieces, batch: 1000)).to eq(size)
      expect(pieces.size).to eq(4)
      expect(JSON.parse(pieces.join)).to eq(expected(Line.order(:id)))
    end

    it "writes an empty array for nothing" do
      pieces = []
      Line.where(id: 0).stream_json(pieces)
      Line.none.stream_json(pieces)
      expect(pieces).to eq(%w{[] []})
    end

    it "is the answer of a request, by a stream or a deferred response" do
      port = serve_app(Fastr.app do
        get("/stream") { stream(content_type: "application/json") { |out| Line.order(:id).stream_json(out) } }
        get("/later") { defer_response { |response| Line.order(:id).stream_json(response) } }
      end)
      bodies = %w[/stream /later].map { |path| Net::HTTP.get(URI("http://127.0.0.1:#{port}#{path}")) }
      expect(bodies.map { |body| JSON.parse(body) }).to eq([expected(Line.order(:id))] * 2)
    end

    it "waits for a slow client, and stops when it leaves" do
      database.query("update lines set text = ?", "x" * 20_000)
      port = serve_app(Fastr.app { get("/") { defer_response { |response| Line.stream_json(response, batch: 10) } } })
      socket = TCPSocket.new("127.0.0.1", port)
      socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      socket.readpartial(1000)
      eventually { database.stats[:busy] == 1 }
      socket.close
      idle
    end
  end
end
