# frozen_string_literal: true

# Which of several databases answers. The copies differ on purpose, so that an answer tells where it came from.
RSpec.describe AsyncRecord, "with replicas" do
  include Support::Dispatching

  let(:copies) { %w[first second] }
  let(:urls) { %w[primary first second].to_h { |name| [name, "sqlite:#{sqlite_folder}/#{name}.db"] } }
  let(:sticky) { 5 }
  let(:database) do
    AsyncRecord::Database.new(urls["primary"], replicas: urls.values_at(*copies), sticky: sticky, pool_timeout: 2)
                         .tap { |database| sqlite_databases << database }
  end

  before do
    urls.each do |name, url|
      one = AsyncRecord::Database.new(url)
      one.query("create table places (id integer primary key, name text)")
      one.query("insert into places (name) values (?)", name)
      one.close
    end
    model("Place", database)
  end

  def place
    Place.find(1).name
  end

  it "reads from the replicas in turn" do
    expect(Array.new(4) { place }.tally).to eq({ "first" => 2, "second" => 2 })
    expect(database.query("select name from places").first["name"]).not_to eq("primary")
    expect(in_fiber { place }).not_to eq("primary")
    expect(called_back { |done| Place.find(1) { |found| done.call(found.name) } }).not_to eq("primary")
  end

  it "writes to the primary, and reads what was written from there" do
    read = in_fiber do
      Place.create!(name: "new")
      [place, Place.count]
    end
    expect(read).to eq(["primary", 2])
  end

  it "keeps to the primary in what comes of the code that wrote, and nowhere else" do
    read = in_fiber do
      AsyncRecord.gather(-> { Place.create!(name: "new") })
      [place, AsyncRecord.async { place }.await]
    end
    expect(read).to eq(%w[primary primary])
    expect(called_back { |done| Place.create!(name: "x") { Place.find(1) { |found| done.call(found.name) } } })
      .to eq("primary")
    expect(Thread.new { place }.value).not_to eq("primary")
  end

  it "keeps everything in a transaction on the primary, and what follows one that wrote" do
    read = in_fiber do
      inside = AsyncRecord.transaction(database: database) { place }
      after_reading = place
      AsyncRecord.transaction(database: database) { Place.create!(name: "x") }
      [inside, after_reading, place]
    end
    expect(read.values_at(0, 2)).to eq(%w[primary primary])
    expect(read[1]).not_to eq("primary")
  end

  it "reads from the primary when told to" do
    expect(AsyncRecord.using_primary { place }).to eq("primary")
    expect(Place.primary.find(1).name).to eq("primary")
    expect(Place.where(id: 1).primary.async.to_a.await.first.name).to eq("primary")
    expect(called_back { |done| Place.primary.pluck(:name) { |names| done.call(names.first) } }).to eq("primary")
  end

  it "sends locks and what only looks like a read to the primary" do
    reading = AsyncRecord.const_get(:Replicas, false).method(:reading?)
    expect(["select 1", " with a as (select 1) select * from a", "SELECT \"update\" FROM x"].map(&reading))
      .to eq([true, true, false])
    expect(["select 1 for update", "select a from b for no key update", "select 1 lock in share mode",
            "with a as (delete from b returning *) select * from a", "select nextval('x')", "select 1 into y",
            "update x set a = 1", "call x()"].map(&reading)).to all(be(false))
  end

  it "remembers per request who wrote, in callbacks too" do
    port = serve do |request|
      write = request.path == "/write"
      Place.create!(name: "x") if write
      Place.find(1) { |found| request.respond(200, {}, found.name) }
    end
    answers = %w[/write /read].map { |path| Net::HTTP.get(URI("http://127.0.0.1:#{port}#{path}")) }
    expect(answers.first).to eq("primary")
    expect(answers.last).not_to eq("primary")
  end

  describe "that is soon forgotten" do
    let(:sticky) { 0.05 }

    it "reads from the replicas again after a while" do
      read = in_fiber do
        Place.create!(name: "new")
        sleep(0.1)
        place
      end
      expect(read).not_to eq("primary")
    end
  end

  describe "of which one is down" do
    let(:urls) do
      FileUtils.mkdir_p("#{sqlite_folder}/gone")
      super().merge("second" => "sqlite:#{sqlite_folder}/gone/second.db")
    end
    let(:sticky) { 0 }

    it "leaves it out until it is back, and says so" do
      FileUtils.mv("#{sqlite_folder}/gone", "#{sqlite_folder}/moved")
      expect(Array.new(6) { place }).to all(eq("first"))
      down = database.stats[:replicas].last
      expect([down[:healthy], down[:failures], down[:url]]).to eq([false, 1, urls["second"]])
      FileUtils.mv("#{sqlite_folder}/moved", "#{sqlite_folder}/gone")
      eventually { place == "second" }
      expect(database.stats[:replicas].map { |stats| stats[:healthy] }).to eq([true, true])
    end

    it "falls back to the primary when all are down" do
      lonely = AsyncRecord::Database.new(urls["primary"], replicas: "sqlite:#{sqlite_folder}/none/a.db?mode=rw")
      sqlite_databases << lonely
      expect(lonely.query("select name from places").first["name"]).to eq("primary")
      expect(lonely.stats[:replicas].first).to include(healthy: false)
    end
  end

  it "raises what a replica answers, and asks the primary where a replica must not" do
    expect { database.query("select nonsense") }.to raise_error(AsyncRecord::QueryError, /no such column/)
    expect(database.stats[:replicas].sum { |stats| stats[:failures] }).to eq(0)
    readonly = AsyncRecord::QueryError.new("cannot execute in a read-only transaction", code: "25006")
    replicas = database.replicas
    asked = []
    expect(replicas.read { |pool| (asked << pool) && pool ? raise(readonly) : :primary }).to eq(:primary)
    expect(asked.size).to eq(2)
  end

  it "waits for no replica to be described" do
    expect(database.inspect).not_to include("first")
    expect(AsyncRecord::Database.new("sqlite::memory:").stats).not_to have_key(:replicas)
  end
end

RSpec.describe AsyncRecord, "with several databases" do
  after { AsyncRecord.disconnect }

  it "gives a model the database of a name, also one that is connected later" do
    model("Entry") { connects_to :log }
    expect { Entry.count }.to raise_error(AsyncRecord::ConfigurationError, /there is no database :log/)
    log = AsyncRecord.connect("sqlite:#{sqlite_folder}/log.db", name: :log)
    log.query("create table entries (id integer primary key, text varchar)")
    Entry.create!(text: "x")
    expect([Entry.count, Entry.database, AsyncRecord.database(:log)]).to eq([1, log, log])
    expect(AsyncRecord.transaction(database: :log, &:database)).to be(log)
  end

  it "passes the setting on to subclasses" do
    parent = model("LogRecord") do
      self.abstract_class = true
      connects_to :log
    end
    log = AsyncRecord.connect("sqlite::memory:", name: :log)
    expect(model("Line", parent: parent).database).to be(log)
  end
end
