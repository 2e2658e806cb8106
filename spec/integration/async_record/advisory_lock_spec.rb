# frozen_string_literal: true

RSpec.describe AsyncRecord, ".advisory_lock" do
  def lock(name = "report", **options, &block)
    described_class.advisory_lock(name, database: database, **options, &block)
  end

  describe "on SQLite, within the process" do
    let(:database) { sqlite_database }

    before { database.query("create table counters (id integer primary key, n integer)") }

    it "gives what its block returns" do
      expect(lock { :done }).to eq(:done)
    end

    it "lets one in at a time, in fibers and threads, in the order of arrival" do
      inside = most = 0
      order = []
      work = lambda do |number|
        lock do
          most = [most, inside += 1].max
          order << number
          sleep(0.002)
          inside -= 1
        end
      end
      described_class.gather(*Array.new(5) { |number| -> { work.call(number) } })
      Array.new(3) { |number| Thread.new { work.call(number + 5) } }.each(&:join)
      expect([most, order.first(5), order.sort]).to eq([1, [*0...5], [*0...8]])
    end

    it "does not keep out those with another name, nor the one who has it" do
      expect(lock { lock("other") { lock { :inside } } }).to eq(:inside)
    end

    it "waits for as long as it is told to, and not at all for 0" do
      lock do
        [0, 0.05].each do |wait|
          expect { Thread.new { lock(wait: wait) { nil } }.tap { |t| t.report_on_exception = false }.value }
            .to raise_error(AsyncRecord::LockTimeout, /"report" is held by someone else/)
        end
      end
      expect(lock(wait: 0) { :free }).to eq(:free)
    end

    it "is free again when its block raises or its fiber is cancelled" do
      expect { lock { raise "stop" } }.to raise_error("stop")
      taken = Thread::Queue.new
      work = described_class.async { lock { (taken << true) && database.query(<<~SQL) } }
        with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n
      SQL
      taken.pop
      work.cancel
      expect(lock(wait: 5) { :free }).to eq(:free)
    end

    it "is kept until the transaction ends that it was taken in" do
      described_class.transaction(database: database) do
        lock { nil }
        lock { nil }
        expect { Thread.new { lock(wait: 0) { nil } }.tap { |t| t.report_on_exception = false }.value }
          .to raise_error(AsyncRecord::LockTimeout)
      end
      expect(lock(wait: 0) { :free }).to eq(:free)
    end

    it "is freed with the savepoint that is taken back" do
      described_class.transaction(database: database) do
        described_class.transaction(database: database) { lock { raise AsyncRecord::Rollback } }
        expect(Thread.new { lock(wait: 0) { :free } }.value).to eq(:free)
      end
    end

    it "remembers no names that nobody uses" do
      10.times { |number| lock("name #{number}") { nil } }
      expect(described_class.const_get(:AdvisoryLock, false)::InProcess::TURNS.size).to eq(0)
    end
  end

  describe "on PostgreSQL" do
    let(:database) { FakeDatabase.new("postgres://localhost/x") }

    before do
      database.answer(/advisory/, %w[a], [true])
      database.answer(/setting|set_config/, %w[a], ["0"])
    end

    it "is a transaction's lock, on a connection of its own" do
      lock { database.query("select 1") }
      expect(database.sql).to eq(["BEGIN", "SELECT pg_advisory_xact_lock($1)", "select 1", "ROLLBACK"])
      expect(database.log.map { |_, _, options| options[:transaction] }).to eq([nil, 1, nil])
      expect(database.statements[1].last).to match([be_between(-(2**63), (2**63) - 1)])
    end

    it "is asked for without waiting, or with the server's own limit" do
      lock(wait: 0) { nil }
      expect(database.sql[1]).to eq("SELECT pg_try_advisory_xact_lock($1)")
      database.forget_statements
      lock(wait: 0.5) { nil }
      expect(database.statements[1..-2].map { |sql, binds| [sql, binds.size == 1 && binds.first] }).to match(
        [["SAVEPOINT ar_1", false], ["SELECT current_setting('lock_timeout')", false],
         ["SELECT set_config('lock_timeout', $1, true)", "500ms"], ["SELECT pg_advisory_xact_lock($1)", Integer],
         ["SELECT set_config('lock_timeout', $1, true)", "0"], ["RELEASE SAVEPOINT ar_1", false]]
      )
    end

    it "is busy when someone else has it" do
      database.answer(/try_advisory/, %w[a], [false])
      expect { lock(wait: 0) { nil } }.to raise_error(AsyncRecord::LockTimeout, /held by someone else\z/)
      database.fail_with(/pg_advisory_xact/, AsyncRecord::LockTimeout.new("canceling", code: "55P03"))
      expect { lock(wait: 1) { nil } }.to raise_error(AsyncRecord::LockTimeout, /for more than 1 s/)
      expect(database.sql.last).to eq("ROLLBACK")
    end

    it "is the open transaction's inside one" do
      described_class.transaction(database: database) { lock { database.query("select 1") } }
      expect(database.sql).to eq(["BEGIN", "SELECT pg_advisory_xact_lock($1)", "select 1", "COMMIT"])
    end
  end

  describe "on MySQL" do
    let(:database) { FakeDatabase.new("mysql://root@localhost/shop") }

    before { database.answer(/LOCK\(/, %w[a], [1]) }

    it "is held and freed by a connection of its own" do
      lock(wait: 2) { database.query("select 1") }
      expect(database.statements).to eq(
        [["BEGIN", []], ["SELECT GET_LOCK(?, ?)", ["shop/report", 2]], ["select 1", []],
         ["SELECT RELEASE_LOCK(?)", ["shop/report"]], ["ROLLBACK", []]]
      )
    end

    it "is busy when someone else has it, and its connection is given back" do
      database.answer(/GET_LOCK/, %w[a], [0])
      expect { lock(wait: 0) { nil } }.to raise_error(AsyncRecord::LockTimeout)
      expect { described_class.transaction(database: database) { lock(wait: 0) { nil } } }
        .to raise_error(AsyncRecord::LockTimeout)
      expect(database.sql.tally.values_at("BEGIN", "ROLLBACK")).to eq([3, 3])
    end

    it "is freed after the commit of the transaction that it was taken in" do
      described_class.transaction(database: database) { lock { database.query("select 1") } }
      expect(database.sql.last(3)).to eq(["COMMIT", "SELECT RELEASE_LOCK(?)", "ROLLBACK"])
    end

    it "has a name of at most 64 bytes" do
      lock("x" * 100) { nil }
      expect(database.statements[1].last.first).to match(/\A\h{64}\z/)
    end
  end

  it "refuses to be taken without a block, or for a time that has passed" do
    expect { described_class.advisory_lock("x") }.to raise_error(ArgumentError, /block/)
    expect { described_class.advisory_lock("x", wait: -1) { nil } }.to raise_error(ArgumentError, /wait/)
  end
end
