# frozen_string_literal: true

RSpec.describe AsyncRecord::Error do
  let(:database) { sqlite_database(pool_timeout: 0.2, busy_timeout: 0.1) }

  before do
    database.query("create table parents (id integer primary key)")
    database.query(<<~SQL)
      create table children (id integer primary key, parent_id integer references parents (id),
        name text not null unique, age integer check (age >= 0), a integer, b integer, unique (a, b))
    SQL
    model("Child", database) { self.table_name = "children" }
  end

  def error_of
    yield
    nil
  rescue described_class => error
    error
  end

  {
    "a taken value" => [{ name: "x" }, "UniqueViolation", "children.name"],
    "taken values together" => [{ name: "y", a: 1, b: 1 }, "UniqueViolation", "children.a, children.b"],
    "a missing value" => [{ name: nil }, "NotNullViolation", "children.name"],
    "a pointer to nothing" => [{ name: "y", parent_id: 9 }, "ForeignKeyViolation", nil],
    "a broken check" => [{ name: "y", age: -1 }, "CheckViolation", "age >= 0"]
  }.each do |what, (attributes, name, constraint)|
    it "is #{name} for #{what}" do
      Child.create!(name: "x", a: 1, b: 1)
      error = error_of { Child.create!(attributes) }
      expect(error).to be_an_instance_of(AsyncRecord.const_get(name))
      expect(error).to be_a(AsyncRecord::ConstraintViolation)
      expect([error.constraint, error.sql[0, 22]]).to eq([constraint, 'INSERT INTO "children"'])
      expect(error.code).to be_a(Integer)
    end
  end

  it "is QueryError with its SQL for a statement that makes no sense" do
    error = error_of { database.query("select nonsense from children") }
    expect([error.class, error.sql, error.message]).to match([AsyncRecord::QueryError, /nonsense/, /no such column/])
  end

  it "points to the caller's line when waited for" do
    error = error_of { database.query("nonsense") }
    expect(error.backtrace.join).to include("#{__FILE__}:#{__LINE__ - 1}")
  end

  it "is ConnectionError for a file that cannot be opened" do
    missing = AsyncRecord::Database.new("sqlite:#{sqlite_folder}/no/such/folder/a.db?mode=rw")
    sqlite_databases << missing
    expect { missing.query("select 1") }.to raise_error(AsyncRecord::ConnectionError)
  end

  it "is PoolTimeout when no connection becomes free" do
    AsyncRecord.transaction(database: database) do
      error = Thread.new { error_of { Child.create!(name: "x") } }.value
      expect(error).to be_a(AsyncRecord::PoolTimeout)
    end
  end

  it "is BusyError when another process holds the lock" do
    database.query("select 1")
    locked = AsyncRecord::Database.new(database.url)
    sqlite_databases << locked
    AsyncRecord.transaction(database: locked) do
      expect(error_of { Child.create!(name: "x") }).to be_a(AsyncRecord::BusyError)
    end
  end

  it "is ConfigurationError without a database, and names the fix" do
    expect { model("Lost").count }.to raise_error(AsyncRecord::ConfigurationError, /AsyncRecord\.connect "sqlite:/)
    expect { AsyncRecord.database(:log) }.to raise_error(AsyncRecord::ConfigurationError, /name: :log/)
  end

  it "is ConfigurationError for a URL of no known database" do
    expect { AsyncRecord.connect("oracle://h/d") }.to raise_error(AsyncRecord::ConfigurationError, /oracle/)
    expect { AsyncRecord.connect("db/app.db") }.to raise_error(AsyncRecord::ConfigurationError, %r{sqlite:db/app\.db})
  end

  it "is ConfigurationError for an option that there is not, at once and with the right word" do
    expect { AsyncRecord.connect("sqlite::memory:", pool: 5) }
      .to raise_error(AsyncRecord::ConfigurationError, /no option pool:; did you mean size:\?/)
    expect { AsyncRecord.connect("sqlite::memory:", pool_timout: 5) }
      .to raise_error(AsyncRecord::ConfigurationError, /did you mean pool_timeout:\?/)
    expect { AsyncRecord.connect("sqlite::memory:", host: "h") }
      .to raise_error(AsyncRecord::ConfigurationError, /it has size, .*belong into the URL/)
    expect { model("Lost").connects_to(database: { writing: :log }) }
      .to raise_error(AsyncRecord::ConfigurationError, /connects_to takes a name or a URL/)
  end

  it "hides the password where a database is shown" do
    expect(AsyncRecord::Database.new("postgres://u:s3cret@h/d").inspect)
      .to eq("#<AsyncRecord::Database postgres://u:…@h/d>")
  end

  it "names the table that is missing" do
    ghost = model("Ghost", database)
    expect { ghost.count }.to raise_error(AsyncRecord::QueryError, /no such table: ghosts/)
    expect { ghost.new }.to raise_error(AsyncRecord::QueryError, /there is no table ghosts/)
  end

  it "is answered by the other's record when two callers create the same one" do
    names = Array.new(8) { -> { Child.find_or_create_by({ name: "x" }).id } }
    expect(AsyncRecord.gather(*names).uniq).to eq([1])
  end

  it "does not fill a pool: many failures later everything works" do
    300.times { error_of { database.query("nonsense") } }
    expect([Child.count, database.stats[:busy]]).to eq([0, 0])
  end
end
