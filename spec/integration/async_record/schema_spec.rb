# frozen_string_literal: true

RSpec.describe "The schema" do
  let(:database) { sqlite_database }

  before do
    database.query("create table users (id integer primary key, name varchar(40) not null default 'it''s', " \
                   "age integer default -5, rate decimal(4,2) default 1.5, live boolean default true, " \
                   "born date default '2000-01-02', seen datetime default current_timestamp, note text default null, " \
                   "doubled integer generated always as (age * 2) virtual)")
    model("User", database)
  end

  def count_queries
    sql = []
    subscription = AsyncRecord.subscribe(:query) { |event| sql << event.sql }
    yield
    sql
  ensure
    AsyncRecord.unsubscribe(subscription)
  end

  it "is read once, when first needed" do
    sql = count_queries { 3.times { User.where(name: "x").to_a } }
    expect(sql.grep(/pragma_table_xinfo/).size).to eq(1)
    expect(sql.size).to eq(4)
  end

  it "is not read by building a relation" do
    expect(count_queries { User.where(name: "x").order(:id).limit(1) }).to be_empty
  end

  it "is read in every style" do
    [-> { User.new.name }, -> { in_fiber { User.new.name } }, -> { Thread.new { User.new.name }.value }].each do |style|
      User.reset_schema
      expect(style.call).to eq("it's")
    end
    User.reset_schema
    expect(called_back { |done| User.where(name: "x").count { |n| done.call(n) } }).to eq(0)
  end

  it "knows kinds and defaults, and leaves computed ones to the database" do
    expect(User.new.attributes).to eq(
      "id" => nil, "name" => "it's", "age" => -5, "rate" => BigDecimal("1.5"), "live" => true,
      "born" => Date.new(2000, 1, 2), "seen" => nil, "note" => nil, "doubled" => nil
    )
    expect(User.create!.seen).to be_within(5).of(Time.now)
    expect(User.columns.map(&:kind)).to eq(%i[integer string integer decimal boolean date datetime string integer])
  end

  it "reads generated columns and never writes them" do
    expect(User.create!(age: 4).doubled).to eq(8)
  end

  it "is read anew after DDL that this process runs" do
    User.create!
    database.query("alter table users add column nick text")
    expect(User.create!(nick: "n").nick).to eq("n")
    expect(User.first.nick).to be_nil
  end

  it "survives a column that another process added" do
    User.create!
    expect(User.first.name).to eq("it's")
    other = AsyncRecord::Database.new(database.url)
    sqlite_databases << other
    other.query("alter table users add column nick text default 'new'")
    expect([User.first.name, User.all.to_a.size, User.find(1).has_attribute?(:nick)]).to eq(["it's", 1, false])
    User.reset_schema
    expect(User.first.nick).to eq("new")
  end

  it "recovers from a column that another process removed" do
    User.create!
    User.first
    other = AsyncRecord::Database.new(database.url)
    sqlite_databases << other
    other.query("alter table users drop column note")
    expect { User.first }.to raise_error(AsyncRecord::QueryError, /note/)
    expect(User.first.has_attribute?(:note)).to be(false)
  end

  it "finds a table that is created after it was asked for" do
    late = model("Late", database)
    expect { late.count }.to raise_error(AsyncRecord::QueryError)
    database.query("create table lates (id integer primary key, name text)")
    expect(late.create(name: "x").id).to eq(1)
  end

  it "reads views" do
    database.query("create view grown as select id, name from users where age > 17")
    model("Grown", database) { self.table_name = "grown" }
    User.create!(age: 20)
    expect(Grown.where(name: "it's").pluck(:id)).to eq([1])
  end

  it "keeps databases apart" do
    second = sqlite_database
    second.query("create table users (id integer primary key, title text)")
    model("Other", second) { self.table_name = "users" }
    Other.create!(title: "t")
    User.create!(name: "n")
    expect([Other.first.title, User.first.name, Other.column_names]).to eq(["t", "n", %w[id title]])
    expect([User.connection, Other.connection]).to eq([database, second])
  end

  it "is shown by the class" do
    User.count
    User.columns
    expect(User.inspect).to start_with("User(id: integer, name: string")
  end
end

RSpec.describe AsyncRecord, ".connect" do
  after do
    described_class.disconnect
    AsyncRecord::Base.set_connection(nil)
  end

  it "names the database of all models" do
    described_class.connect("sqlite:#{sqlite_folder}/main.db")
    described_class.database.query("create table users (id integer primary key)")
    expect(model("User").count).to eq(0)
    expect(described_class.pool.stats).to include(:size, :idle, :busy, :waiting, :timeouts, :queries)
  end

  it "takes DATABASE_URL from the environment" do
    stub_const("ENV", ENV.to_h.merge("DATABASE_URL" => "sqlite:#{sqlite_folder}/env.db"))
    expect(described_class.database.query("select 1 as one")).to eq([{ "one" => 1 }])
  end

  it "knows several by name, and classes choose" do
    described_class.connect("sqlite:#{sqlite_folder}/main.db")
    log = described_class.connect("sqlite:#{sqlite_folder}/log.db", name: :log)
    log.query("create table entries (id integer primary key)")
    entry = model("Entry") { connects_to AsyncRecord.database(:log) }
    expect(entry.create!.id).to eq(1)
    AsyncRecord.transaction(database: :log) { entry.create! }
    expect([entry.count, described_class.databases.keys]).to eq([2, %i[primary log]])
  end

  it "is another one once another database has the name" do
    described_class.connect("sqlite:#{sqlite_folder}/first.db").query("create table places (id integer primary key)")
    place = model("Place")
    expect(place.create!.id).to eq(1)
    second = described_class.connect("sqlite:#{sqlite_folder}/second.db")
    second.query("create table places (code text primary key)")
    %w[fr de].each { |code| second.query("insert into places values (?)", code) }
    expect([place.first.id, place.primary_key, place.column_names]).to eq(["de", "code", %w[code]])
  end

  it "opens connections of its own in a forked child" do
    database = described_class.connect("sqlite:#{sqlite_folder}/fork.db")
    database.query("create table users (id integer primary key)")
    reader, writer = IO.pipe
    pid = fork do
      reader.close
      database.query("insert into users (id) values (1)")
      writer.write(database.query("select count(*) as n from users").first["n"])
      writer.close
      exit!(0)
    end
    writer.close
    expect(reader.read).to eq("1")
    Process.wait(pid)
    expect(database.query("select count(*) as n from users")).to eq([{ "n" => 1 }])
  end

  it "is closed and opened again" do
    database = described_class.connect("sqlite:#{sqlite_folder}/again.db")
    database.query("create table a (id integer)")
    database.close
    expect(database.query("select count(*) as n from a")).to eq([{ "n" => 0 }])
  end
end
