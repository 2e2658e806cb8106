# frozen_string_literal: true

require "async_record/test"
require "fastr/test"

RSpec.describe AsyncRecord::Test do
  let(:database) { sqlite_database(pool_timeout: 2) }

  before do
    database.query("create table users (id integer primary key, name text unique)")
    model("User", database) { after_commit { (@committed ||= []) << name } }
    User.define_method(:committed) { @committed }
    User.create!(name: "ann")
    described_class.databases = [database]
  end

  after do
    described_class.finish
    described_class.databases = nil
  end

  it "leaves nothing behind" do
    described_class.isolate do
      User.create!(name: "bob")
      database.query("update users set name = 'x' where name = 'ann'")
      expect(User.order(:id).pluck(:name)).to eq(%w[x bob])
    end
    expect(User.pluck(:name)).to eq(["ann"])
  end

  it "ends also when the example fails" do
    expect { described_class.isolate { User.create!(name: "bob") && raise("failed") } }.to raise_error("failed")
    expect([User.count, database.pin]).to eq([1, nil])
  end

  it "shows every fiber and thread the same" do
    described_class.isolate do
      User.create!(name: "bob")
      counts = [Thread.new { User.count }.value, in_fiber { User.count },
                called_back { |done| User.count { |count| done.call(count) } }, *AsyncRecord.gather(User.async.count)]
      expect(counts).to eq([2] * 4)
    end
  end

  it "makes savepoints of transactions, and runs their hooks when the outermost is over" do
    described_class.isolate do
      log = []
      User.transaction do |tx|
        tx.after_commit { log << :committed }
        User.create!(name: "bob")
        User.transaction do |inner|
          inner.after_commit { log << :never }
          User.create!(name: "cyd")
          raise AsyncRecord::Rollback
        end
        log << :inside
      end
      expect([log, User.count]).to eq([%i[inside committed], 2])
      User.transaction { User.delete_all && raise(AsyncRecord::Rollback) }
      expect(User.count).to eq(2)
    end
  end

  it "runs the commit hooks of models" do
    described_class.isolate do
      user = User.transaction { User.create!(name: "bob") }
      expect(user.committed).to eq(["bob"])
    end
  end

  it "lets transactions of several fibers take turns" do
    described_class.isolate do
      work = Array.new(5) { |index| -> { User.transaction { User.create!(name: "n#{index}") && sleep(0.002) } } }
      AsyncRecord.gather(*work)
      expect(User.count).to eq(6)
    end
  end

  it "is not taken for idle, however long the example thinks" do
    hasty = AsyncRecord::Database.new(database.url, idle_in_transaction: 0.1)
    sqlite_databases << hasty
    described_class.databases = [hasty]
    described_class.isolate do
      hasty.query("insert into users (name) values ('bob')")
      sleep(0.4)
      expect(hasty.query("select count(*) as n from users")).to eq([{ "n" => 2 }])
    end
  end

  it "takes handles too" do
    described_class.isolate do
      kept = AsyncRecord.begin(database: database)
      kept.query("insert into users (name) values ('kept')")
      kept.commit
      undone = AsyncRecord.begin(database: database)
      undone.query("insert into users (name) values ('undone')")
      undone.rollback
      expect(User.pluck(:name)).to eq(%w[ann kept])
      expect { undone.query("select 1") }.to raise_error(AsyncRecord::TransactionClosed)
    end
  end

  it "says what a test waits for that waits for itself" do
    stub_const("AsyncRecord::Test::Pin::PATIENCE", 0.05)
    described_class.isolate do
      User.transaction do
        expect { Thread.new { User.transaction { nil } }.tap { |thread| thread.report_on_exception = false }.value }
          .to raise_error(AsyncRecord::PoolTimeout, /one connection.*/m)
      end
    end
  end

  it "takes locks by name within the process" do
    described_class.isolate do
      expect(AsyncRecord.advisory_lock("x", database: database) { User.transaction { :done } }).to eq(:done)
    end
  end

  it "forgets tables that only the example had" do
    described_class.isolate do
      database.query("create table notes (id integer primary key)")
      model("Note", database)
      expect(Note.create!.id).to eq(1)
    end
    expect { Note.count }.to raise_error(AsyncRecord::QueryError)
  end

  it "pins what is connected, by default" do
    described_class.databases = nil
    AsyncRecord.connect(database.url)
    described_class.isolate { expect(AsyncRecord.database.pin).not_to be_nil }
    expect(AsyncRecord.database.pin).to be_nil
  ensure
    AsyncRecord.disconnect
  end

  it "pins what is connected within the example, as by an application that boots then" do
    described_class.databases = nil
    described_class.isolate do
      AsyncRecord.connect(database.url)
      AsyncRecord.database.execute("insert into users (name) values ('bob')")
    end
    expect([AsyncRecord.database.pin, User.count]).to eq([nil, 1])
    AsyncRecord.connect(database.url)
    expect(AsyncRecord.database.pin).to be_nil
  ensure
    AsyncRecord.disconnect
  end

  it "shows a request of the test client what the example wrote" do
    client = Fastr::Test::Client.new(Fastr::Application.new do
      get("/") { User.count.to_s }
      post("/") { User.create!(name: "made").then { "made" } }
    end)
    described_class.isolate do
      User.create!(name: "bob")
      expect(client.get("/").body).to eq("2")
      client.post("/")
      expect(User.pluck(:name)).to eq(%w[ann bob made])
    end
    expect(User.count).to eq(1)
  end

  it "is what the modules for RSpec and Minitest do around each example" do
    around = nil
    group = Class.new { define_singleton_method(:around) { |&block| around = block } }
    group.include(AsyncRecord::Test::RSpec)
    example = Object.new
    example.define_singleton_method(:run) { User.create!(name: "bob") && User.count }
    expect(around.call(example)).to eq(2)
    test = Class.new do
      include(Module.new do
        def before_setup = nil
        def after_teardown = nil
      end)
      include AsyncRecord::Test::Minitest
    end.new
    test.before_setup
    User.create!(name: "bob")
    test.after_teardown
    expect(User.count).to eq(1)
  end
end
