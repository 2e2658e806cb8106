# frozen_string_literal: true

require "async_record"

# Row streams and timings as native objects: whatever becomes of them, the pool gets its connections back.
RSpec.describe "AsyncRecord::RowStream" do
  let(:pool) { AsyncRecord::Pool.new("sqlite:#{File.join(folder, 'a.db')}", { size: 2 }) }
  let(:folder) { Dir.mktmpdir("fastr-stream") }

  after do
    pool.close
    FileUtils.rm_rf(folder)
  end

  def ask(&block)
    Fastr::Completion.await(&block)
  end

  def stream(rows: 1000, batch: 10)
    numbers = "with recursive n(i) as (select 1 union all select i + 1 from n limit #{rows}) select i from n"
    ask { |sink| pool.stream(sink, numbers, [], { batch: batch }) }
  end

  def take(stream)
    ask { |sink| stream.next(sink) }
  end

  def at_rest?
    eventually(within: 10) { pool.stats.values_at(:busy, :waiting) == [0, 0] }
  end

  it "gives its rows in batches and then nothing, as often as it is asked" do
    numbers = stream(rows: 25)
    sizes = Array.new(5) { take(numbers)&.size }
    expect([sizes, at_rest?]).to eq([[10, 10, 5, nil, nil], true])
  end

  it "gives its connection back when it is closed, also by another thread and more than once" do
    numbers = stream(rows: 100_000)
    first = take(numbers).to_a.first
    Thread.new { 3.times { numbers.close } }.join
    expect([first, at_rest?, take(numbers)]).to eq([{ "i" => 1 }, true, nil])
  end

  it "gives its connection back when it is dropped unread" do
    count = ENV["FASTR_GC"] ? 3 : 20
    count.times { stream(rows: 100_000) && nil }
    GC.start
    expect(ask { |sink| pool.query(sink, "select 1 as one", [], {}) }.to_a).to eq([{ "one" => 1 }])
  end

  it "loses no batch when a wait for one is given up" do
    numbers = stream(rows: 30)
    completion = Fastr::Completion.start { |sink| numbers.next(sink) }
    completion.callback { nil }.errback { nil }
    completion.cancel
    rest = 0
    while (rows = take(numbers))
      rest += rows.size
    end
    expect([10, 20, 30]).to include(rest)
  end

  it "says what is wrong with a statement when the first batch is asked for" do
    wrong = ask { |sink| pool.stream(sink, "select nonsense", [], {}) }
    expect { take(wrong) }.to raise_error(AsyncRecord::QueryError, /nonsense/)
    expect(take(wrong)).to be_nil
  end

  it "is left alone by a forked child" do
    numbers = stream(rows: 100_000)
    pid = fork do
      numbers.close
      exit!(begin
        take(numbers)
        1
      rescue Fastr::ReactorError
        0
      end)
    end
    expect([Process.wait2(pid).last.exitstatus, take(numbers).size]).to eq([0, 10])
    numbers.close
  end

  it "tells how long a statement took" do
    timings = AsyncRecord::Timings.new
    ask { |sink| pool.query(sink, "select 1", [], { timings: timings }) }
    expect([timings.queue_ms, timings.db_ms, timings.decode_ms]).to all(be_a(Float).and(be >= 0))
    expect(timings.db_ms).to be > 0
  end
end
