# frozen_string_literal: true

# What a transaction asks of its driver, and what it makes of the driver's errors, on each kind of database.
RSpec.describe AsyncRecord::Transaction, "towards its driver" do
  def fake(url = "sqlite::memory:")
    FakeDatabase.new(url, tables: { users: { id: "INTEGER", name: "VARCHAR" } })
  end

  def transaction(database, **options, &block)
    AsyncRecord.transaction(database: database, **options, &block)
  end

  let(:postgresql) { fake("postgres://localhost/x") }
  let(:mysql) { fake("mysql://localhost/x") }
  let(:sqlite) { fake }

  it "hands on isolation, read_only and deferrable" do
    transaction(postgresql, isolation: :serializable, read_only: true, deferrable: true) { nil }
    expect(postgresql.log.first).to eq(["BEGIN", [], { isolation: :serializable, read_only: true, deferrable: true }])
    transaction(mysql, isolation: :read_committed, read_only: nil) { nil }
    expect(mysql.log.first.last).to eq({ isolation: :read_committed })
    transaction(sqlite, mode: :deferred, timeout: 2) { nil }
    expect(sqlite.log.first.last).to eq({ mode: :deferred, timeout: 2 })
  end

  it "refuses what does not exist, before anything is begun" do
    expect { transaction(sqlite, isolation: :snapshot) { nil } }.to raise_error(ArgumentError, /:serial.*:snapshot/)
    expect { transaction(sqlite, isolatoin: :serializable) { nil } }.to raise_error(ArgumentError, /isolatoin/)
    expect { transaction(mysql, deferrable: true) { nil } }.to raise_error(AsyncRecord::NotSupported, /PostgreSQL/)
    expect { transaction(postgresql, mode: :deferred) { nil } }.to raise_error(AsyncRecord::NotSupported, /SQLite/)
    expect([sqlite, mysql, postgresql].flat_map(&:statements)).to eq([])
  end

  it "refuses to change the isolation of an open transaction, and says where that was opened" do
    transaction(postgresql) do
      expect { transaction(postgresql, isolation: :serializable) { nil } }
        .to raise_error(AsyncRecord::TransactionIsolationError, /isolation: .*since .*#{File.basename(__FILE__)}:\d/)
      expect { transaction(postgresql, read_only: true) { nil } }.to raise_error(AsyncRecord::TransactionIsolationError)
    end
    expect(postgresql.sql).to eq(%w[BEGIN COMMIT])
  end

  it "numbers savepoints, so that no two have the same name" do
    transaction(sqlite) do
      2.times { transaction(sqlite) { nil } }
      catch(:out) { transaction(sqlite) { throw :out } }
    end
    expect(sqlite.sql).to eq(
      ["BEGIN", "SAVEPOINT ar_1", "RELEASE SAVEPOINT ar_1", "SAVEPOINT ar_2", "RELEASE SAVEPOINT ar_2",
       "SAVEPOINT ar_3", "RELEASE SAVEPOINT ar_3", "COMMIT"]
    )
  end

  describe "run again" do
    def failing(database, error, times)
      calls = 0
      transaction(database, retries: 3) do |tx|
        tx.after_commit { @hooks = (@hooks || 0) + 1 }
        raise error if (calls += 1) <= times

        calls
      end
    end

    it "is a block that met a conflict, and the hooks of the failed tries are forgotten" do
      [AsyncRecord::SerializationFailure, AsyncRecord::Deadlock, AsyncRecord::BusyError].each do |error|
        @hooks = 0
        expect(failing(sqlite, error.new("busy"), 2)).to eq(3)
        expect(@hooks).to eq(1)
      end
    end

    it "is not one that failed for another reason" do
      expect { failing(sqlite, AsyncRecord::UniqueViolation.new("taken"), 1) }
        .to raise_error(AsyncRecord::UniqueViolation)
      expect { failing(sqlite, AsyncRecord::SerializationFailure.new("busy"), 9) }
        .to raise_error(AsyncRecord::SerializationFailure)
    end

    it "is one whose commit met the conflict" do
      answers = [AsyncRecord::SerializationFailure.new("late", code: "40001"), nil]
      postgresql.pool.answer(/COMMIT/) { answers.shift }
      expect(failing(postgresql, AsyncRecord::BusyError.new("busy"), 0)).to eq(2)
    end

    it "is not one that was committed, whatever its hooks meet" do
      calls = 0
      expect do
        transaction(sqlite, retries: 3) do |tx|
          calls += 1
          tx.after_commit { raise AsyncRecord::BusyError, "busy" }
        end
      end.to raise_error(AsyncRecord::BusyError)
      expect(calls).to eq(1)
    end
  end

  it "runs every hook, and raises the first error then" do
    seen = []
    expect do
      transaction(sqlite) do |tx|
        tx.after_commit { raise "first" }
        tx.after_commit { seen << :second }
      end
    end.to raise_error("first")
    expect(seen).to eq([:second])
  end

  describe "after a failed statement on PostgreSQL" do
    before do
      postgresql.fail_with(/bad/, AsyncRecord::QueryError.new("no such column", sql: "bad", code: "42703"))
      postgresql.fail_with(/later/, AsyncRecord::QueryError.new("current transaction is aborted", code: "25P02"))
    end

    def bad
      expect { postgresql.query("bad") }.to raise_error(AsyncRecord::QueryError, "no such column")
    end

    it "explains why the next one is refused" do
      expect do
        transaction(postgresql) do
          bad
          postgresql.query("later")
        end
      end.to raise_error(AsyncRecord::QueryError, /earlier statement.*no such column \(bad\).*nested.*savepoint/)
    end

    it "does not pretend to be committed" do
      expect { transaction(postgresql) { bad } }
        .to raise_error(AsyncRecord::TransactionClosed, /nothing of this transaction is kept.*no such column/)
      expect(postgresql.sql.last).to eq("ROLLBACK")
    end

    it "is committed when the statement was in a savepoint" do
      transaction(postgresql) do
        expect { transaction(postgresql) { postgresql.query("bad") } }.to raise_error(AsyncRecord::QueryError)
      end
      expect(postgresql.sql.last(3)).to eq(["ROLLBACK TO SAVEPOINT ar_1", "RELEASE SAVEPOINT ar_1", "COMMIT"])
    end
  end

  it "takes nothing more after a deadlock on MySQL, which has taken it back: that would be committed one by one" do
    mysql.fail_with(/slow/, AsyncRecord::Deadlock.new("Deadlock found", sql: "slow", code: 1213))
    transaction(mysql) do
      expect { mysql.query("slow") }.to raise_error(AsyncRecord::Deadlock)
      expect { mysql.query("next") }.to raise_error(AsyncRecord::TransactionClosed, /Deadlock found \(slow\)/)
      raise AsyncRecord::Rollback
    end
    expect(mysql.sql).to eq(%w[BEGIN slow ROLLBACK])
  end

  it "keeps values out of what the databases say" do
    mysql.pool.answer(/m/) { AsyncRecord::UniqueViolation.new("Duplicate entry 'it's me' for key 'name'", code: 1062) }
    expect { mysql.query("m") }.to raise_error("Duplicate entry [FILTERED] for key 'name'")
    postgresql.fail_with(/p/, AsyncRecord::QueryError.new('invalid input syntax for type integer: "secret"',
                                                          code: "22P02"))
    expect { postgresql.query("p") }.to raise_error("invalid input syntax for type integer: [FILTERED]")
    AsyncRecord.filter_binds = false
    expect { mysql.query("m") }.to raise_error("Duplicate entry 'it's me' for key 'name'")
  ensure
    AsyncRecord.filter_binds = true
  end

  it "is opened for a model on that model's database" do
    model("User", postgresql)
    User.transaction(isolation: :serializable) { User.count }
    expect(postgresql.log.first.last).to eq({ isolation: :serializable })
  end

  it "marks statements for the database's log, whatever the values" do
    AsyncRecord.tag(controller: "posts", action: "in*/; drop table users; --") do
      AsyncRecord.tag(controller: nil, job: "Ä?") { sqlite.query("select 1") }
      sqlite.query("select 2")
    end
    sqlite.query("select 3")
    expect(sqlite.sql).to eq(
      ["select 1 /*action:in%2A/%3B drop table users%3B --,job:%C3%84%3F*/",
       "select 2 /*controller:posts,action:in%2A/%3B drop table users%3B --*/", "select 3"]
    )
    expect { AsyncRecord.tag("a b": 1) { nil } }.to raise_error(ArgumentError, /letters/)
  end

  it "gives the statements of a block what is left of its time" do
    AsyncRecord.timeout(5) do
      sqlite.query("select 1")
      AsyncRecord.timeout(60) { sqlite.query("select 2") }
    end
    limits = sqlite.log.map { |_, _, options| options[:timeout] }
    expect(limits).to all(be_between(4, 5))
    expect do
      AsyncRecord.timeout(0.001) do
        sleep(0.002)
        sqlite.query("select 3")
      end
    end.to raise_error(AsyncRecord::QueryTimeout, /0.001 s/)
    expect(sqlite.sql).to eq(["select 1", "select 2"])
    expect { AsyncRecord.timeout(0) { nil } }.to raise_error(ArgumentError)
  end
end
