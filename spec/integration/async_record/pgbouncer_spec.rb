# frozen_string_literal: true

# A real pgbouncer between us and PostgreSQL: connections are shared among clients, transaction by transaction.
RSpec.describe AsyncRecord, "behind pgbouncer", :pgbouncer, limit: 60 do
  let(:bouncer) { Support::Servers.pgbouncer }
  let(:direct) { fresh_database(:postgresql) }
  let(:name) { direct.url[/\w+\z/] }
  let(:database) { open_database("#{bouncer.url(name)}?pgbouncer=true", size: 12, pool_timeout: 10) }

  def hearing_nothing(url)
    open_database(url).then { |one| described_class.listen("jobs", database: one) { nil }.wait }
  end

  it "binds values of every kind, and reads them back" do
    values = { "bigint" => 2**62, "double precision" => 0.1, "numeric" => BigDecimal("12345678901234567890.123"),
               "text" => "ä'\\\"$1?", "bytea" => "\x00\xff'".b, "boolean" => true, "date" => Date.new(2026, 2, 28),
               "timestamptz" => Time.utc(2026, 1, 2, 3, 4, 5, 678_901),
               "uuid" => "6f1ed002-ab5d-4d0c-8a3c-7d3f5b1e1c11", "int4range" => (1...5), "jsonb" => '{"a": [1, "\'"]}' }
    2.times do
      values.each do |type, value|
        row = database.query("select ?::#{type} as value, ?::#{type} is null as none", value, nil).first
        expect([type, row["value"], row["none"]]).to eq([type, type == "jsonb" ? { "a" => [1, "'"] } : value, true])
      end
    end
    database.execute("create table lists (id #{column(:id, :postgresql)}, numbers int[], words text[])")
    model("List", database).create!(numbers: [1, nil, 3], words: ["a,b", "'", "\\", "{}"])
    expect(List.where(numbers: [1, nil, 3]).pluck(:words)).to eq([["a,b", "'", "\\", "{}"]])
  end

  it "serves models: writes, relations, JSON, lists, errors with their constraint" do
    direct.execute("create table users (id #{column(:id, :postgresql)}, name text unique, age int)")
    model("User", database)
    User.insert_all!(Array.new(50) { |index| { name: "n#{index}", age: index } })
    expect(User.where(age: 10..12).order(:id).pluck(:name)).to eq(%w[n10 n11 n12])
    expect(User.where(name: %w[n1 n2 n3], age: [1, 2]).count).to eq(2)
    expect(JSON.parse(User.where(age: 7).to_json)).to match([include("name" => "n7")])
    expect { User.create!(name: "n1") }.to raise_error(AsyncRecord::UniqueViolation, /users_name_key/)
    expect { database.query("select nonsense") }.to raise_error(AsyncRecord::QueryError, /nonsense/)
    expect { database.query("select 1 / ?::int", 0) }.to raise_error(AsyncRecord::QueryError, /division/)
    expect(User.find_by(name: "n1").update!(age: 99)).to be_truthy
    expect(direct.query("select age from users where name = 'n1'")).to eq([{ "age" => 99 }])
  end

  it "keeps a transaction on one connection while many others share the rest" do
    direct.execute("create table counters (id int primary key, n int)")
    direct.execute("insert into counters values (1, 0)")
    work = Array.new(12) do
      lambda do
        described_class.transaction(database: database) do
          before = database.query("select pg_backend_pid() as pid").first["pid"]
          database.query("update counters set n = n + ? where id = ?", 1, 1)
          described_class.transaction(database: database) { database.query("select 1") && raise(AsyncRecord::Rollback) }
          database.query("select pg_backend_pid() as pid").first["pid"] == before
        end
      end
    end
    expect(in_fiber { described_class.gather(*work) }).to all(be(true))
    expect(direct.query("select n from counters")).to eq([{ "n" => 12 }])
  end

  it "answers each of many at once what that one asked, whichever server connection it came by" do
    texts = Array.new(40) { |index| "select #{index} as n, ?::text as t, ?::int as i" }
    asked = Array.new(400) { |index| -> { database.query(texts[index % 40], "t#{index}", index).first } }
    answers = in_fiber { described_class.gather(*asked, limit: 50) }
    expect(answers).to eq(Array.new(400) { |index| { "n" => index % 40, "t" => "t#{index}", "i" => index } })
    expect(direct.query("select count(*) as n from pg_stat_activity where application_name = 'fastr'").first["n"])
      .to be < 400
  end

  it "goes on after an error in and outside of a transaction" do
    3.times do
      expect do
        described_class.transaction(database: database) { database.query("select nonsense") }
      end.to raise_error(AsyncRecord::QueryError, /nonsense/)
      expect(database.query("select 1 as one")).to eq([{ "one" => 1 }])
    end
    eventually { database.stats[:busy].zero? }
  end

  it "survives a change of the schema under statements that were used before" do
    database.query("create table things (id int)")
    database.query("insert into things values (1)")
    expect(database.query("select * from things")).to eq([{ "id" => 1 }])
    database.query("alter table things add column name text default 'x'")
    5.times { expect(database.query("select * from things")).to eq([{ "id" => 1, "name" => "x" }]) }
  end

  it "streams within a transaction and without, and may be left early" do
    sql = "select i, repeat('x', 100) as t from generate_series(1, 5000) as i"
    seen = 0
    database.stream(sql) { seen += 1 }
    described_class.transaction(database: database) { database.stream(sql) { seen += 1 } }
    expect(seen).to eq(10_000)
    database.stream(sql) { break }
    eventually { database.stats[:busy].zero? }
    expect(database.query("select 1 as one")).to eq([{ "one" => 1 }])
  end

  it "ends a statement at its time limit, and heals" do
    took = elapsed do
      expect { described_class.timeout(0.3) { database.query("select pg_sleep(20)") } }
        .to raise_error(AsyncRecord::QueryTimeout)
    end
    expect(took).to be < relaxed(5)
    expect(Array.new(5) { database.query("select 1 as one").first["one"] }).to eq([1] * 5)
  end

  it "goes on when pgbouncer was restarted" do
    expect(database.query("select 1 as one")).to eq([{ "one" => 1 }])
    bouncer.restart
    ones = Array.new(6) do
      eventually do
        database.query("select 1 as one").first["one"]
      rescue AsyncRecord::ConnectionError
        nil
      end
    end
    expect(ones).to eq([1] * 6)
  end

  it "refuses to listen, and says why and what to do" do
    expect { hearing_nothing(database.url) }.to raise_error(AsyncRecord::Error, /pgbouncer.*(?:directly|direct)/i)
  end

  it "works without pgbouncer=true where statements are prepared on the connection at hand only" do
    plain = open_database("#{bouncer.url(name)}?prepared_statements=false", size: 4)
    asked = Array.new(100) { |index| -> { plain.query("select ?::int as n", index).first["n"] } }
    expect(in_fiber { described_class.gather(*asked, limit: 20) }).to eq((0...100).to_a)
  end

  describe "that pools by statement" do
    let(:database) do
      open_database("#{bouncer.url(Support::Servers::PgBouncer::STATEMENTS)}?pgbouncer=true", size: 4)
    end

    it "answers queries with binds" do
      asked = Array.new(60) { |index| -> { database.query("select ?::int as n, ?::text as t", index, "'").first } }
      expect(in_fiber { described_class.gather(*asked, limit: 20) })
        .to eq(Array.new(60) { |index| { "n" => index, "t" => "'" } })
    end

    it "has no transactions, which is an error that says so, and heals" do
      expect { described_class.transaction(database: database) { database.query("select 1") } }
        .to raise_error(AsyncRecord::Error, /transaction/i)
      expect(database.query("select 1 as one")).to eq([{ "one" => 1 }])
    end
  end
end
