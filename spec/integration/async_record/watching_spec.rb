# frozen_string_literal: true

# What subscribers are told, and what errors tell.
RSpec.describe AsyncRecord::Event do
  let(:database) { sqlite_database }

  before do
    database.query("create table users (id integer primary key, name text)")
    model("User", database)
    User.insert_all!([{ name: "ann" }, { name: "bob" }])
    User.count # the schema is known
  end

  def events(kind = :query)
    seen = []
    subscription = AsyncRecord.subscribe(kind) { |event| seen << event }
    yield
    seen
  ensure
    AsyncRecord.unsubscribe(subscription)
  end

  it "says what was run, how long it took, how much came of it, and which line asked" do
    event = events { User.where(id: 1..2).to_a }.last
    expect([event.rows, event.failed?, event.database, event.transaction_id]).to eq([2, false, database, nil])
    expect(event.sql).to start_with("SELECT")
    expect(event.caller_line).to eq("#{__FILE__}:#{__LINE__ - 3}")
    expect(event.duration_ms).to be_between(0.001, 5000)
    expect(event.queue_ms + event.db_ms + event.decode_ms + event.ruby_ms).to be_within(0.5).of(event.duration_ms)
  end

  it "names the statement after the model" do
    names = events do
      User.find(1)
      User.create!(name: "cyd").update!(name: "dan")
      User.where(name: "dan").delete_all
      User.count
      database.query("select 1")
    end.map(&:name)
    expect(names).to eq(["User Load", "User Create", "User Update", "User Destroy", "User Count", "SQL"])
  end

  it "tells of failures, and of the transaction" do
    id = nil
    failed, inside = events do
      expect { database.query("nonsense") }.to raise_error(AsyncRecord::QueryError)
      AsyncRecord.transaction(database: database) { |tx| (id = tx.id) && User.count }
    end
    expect([failed.failed?, failed.error.class, inside.transaction_id]).to eq([true, AsyncRecord::QueryError, id])
  end

  it "tells of callbacks with the line where they were written" do
    event = events { called_back { |done| User.count { |n| done.call(n) } } }.last
    expect(event.caller_line).to eq("#{__FILE__}:#{__LINE__ - 1}")
  end

  it "does not let a subscriber break a query" do
    subscription = AsyncRecord.subscribe(:query) { raise "mine" }
    expect { expect(User.count).to eq(2) }.to output(/a subscriber raised RuntimeError: mine/).to_stderr
  ensure
    AsyncRecord.unsubscribe(subscription)
  end

  it "refuses a kind of event that does not exist" do
    expect { AsyncRecord.subscribe(:querry) { nil } }.to raise_error(ArgumentError, /query, transaction/)
  end

  it "tells of transactions when they have ended" do
    seen = events(:transaction) do
      AsyncRecord.transaction(database: database) { User.count }
      AsyncRecord.transaction(database: database) { raise AsyncRecord::Rollback }
    end
    expect(seen.map(&:outcome)).to eq(%i[committed rolled_back])
    expect(seen.first.caller_line).to eq("#{__FILE__}:#{__LINE__ - 4}")
    expect(seen.first.duration_ms).to be_between(0.001, 5000)
  end

  describe "bound values" do
    after { AsyncRecord.filter_binds = true }

    def shown
      events { User.where(id: 1, name: "secret").to_a }.last.binds
    end

    it "are shown as outlines, unless the program wants them" do
      expect(shown).to eq(["[Integer]", "[String 6]"])
      AsyncRecord.filter_binds = false
      expect(shown).to eq([1, "secret"])
      AsyncRecord.filter_binds = ->(value) { value.is_a?(Integer) ? value : "*" }
      expect(shown).to eq([1, "*"])
    end

    it "are part of errors in the same way, with the time they took" do
      error = begin
        database.query("select nonsense where ? = 1", "secret")
      rescue AsyncRecord::QueryError => e
        e
      end
      expect([error.binds, error.message.include?("secret"), error.duration_ms.positive?])
        .to eq([["[String 6]"], false, true])
    end
  end

  describe "an error in callback form" do
    def error_of
      called_back { |done| yield(->(error) { done.call(error) }) }
    end

    it "ends its backtrace with the line that asked: a query that goes straight to the driver" do
      error = called_back do |done|
        Fastr::Dispatcher.next_tick do
          User.where(AsyncRecord.sql("nonsense")).to_a { |_, e| done.call(e) }
        end
      end
      expect(error.backtrace.last).to eq("#{__FILE__}:#{__LINE__ - 3}:in `asked here'")
    end

    it "ends its backtrace with the line that asked: work in a fiber" do
      error = called_back { |done| User.find_by_sql("nonsense") { |_, e| done.call(e) } }
      expect(error.backtrace.last).to eq("#{__FILE__}:#{__LINE__ - 1}:in `asked here'")
      expect(error.backtrace).to include(%r{lib/async_record/database/asking})
    end

    it "ends its backtrace with the stack that asked for a promise" do
      promise = User.async.where(AsyncRecord.sql("nonsense")).to_a
      expect { promise.await }.to raise_error(AsyncRecord::QueryError) { |error|
        expect(error.backtrace).to include(/\A#{Regexp.escape("#{__FILE__}:#{__LINE__ - 2}")}:in/)
      }
    end
  end
end
