# frozen_string_literal: true

require "async_record/test"

# What runs around statements, on each kind of database; what only servers have, on them.
RSpec.describe AsyncRecord, "running statements" do
  def setup_accounts
    owner = column(:string)
    balance = column(:integer)
    database.query("create table accounts (id #{column(:id)}, owner #{owner} unique, balance #{balance})")
    model("Account", database)
    Account.insert_all!([{ owner: "ann", balance: 10 }, { owner: "bob", balance: 0 }])
  end

  def transaction(**options, &block)
    described_class.transaction(database: database, **options, &block)
  end

  def balances
    Account.order(:id).pluck(:balance)
  end

  # Two transactions that wait for each other's row.
  def cross(first, second, **options)
    both = Array.new(2) { Thread::Queue.new }
    [[first, second, 0], [second, first, 1]].map do |mine, other, number|
      lambda do
        met = false
        transaction(**options) do
          Account.where(id: mine).increment(balance: 1)
          unless met
            met = true
            both[1 - number] << true
            Timeout.timeout(5) { both[number].pop }
          end
          Account.where(id: other).increment(balance: 1)
        end
      end
    end
  end

  each_database do
    before { setup_accounts }

    it "takes every isolation level" do
      %i[serializable repeatable_read read_committed read_uncommitted].each do |level|
        transaction(isolation: level) { Account.where(id: 1).increment(balance: 1) }
      end
      expect(balances).to eq([14, 0])
    end

    it "refuses writes in a transaction that only reads" do
      expect(transaction(read_only: true) { balances }).to eq([10, 0])
      expect { transaction(read_only: true) { Account.update_all(balance: 1) } }.to raise_error(AsyncRecord::QueryError)
      expect(balances).to eq([10, 0])
      Account.update_all(balance: 2)
      expect(balances).to eq([2, 2])
    end

    it "takes back a savepoint, and goes on" do
      transaction do
        expect { transaction { Account.create!(owner: "ann") } }.to raise_error(AsyncRecord::UniqueViolation)
        transaction { Account.where(id: 2).increment(balance: 1) }
      end
      expect(balances).to eq([10, 1])
    end

    it "keeps the savepoints of several fibers apart" do
      transaction do
        work = Array.new(6) do |index|
          lambda do
            transaction do
              Account.where(id: 1).increment(balance: 1)
              raise AsyncRecord::Rollback if index.odd?
            end
          end
        end
        described_class.gather(*work)
      end
      expect(balances).to eq([13, 0])
    end

    it "names the line of a transaction that idled, and rolls it back" do
      hasty = open_database(database.url, idle_in_transaction: 0.1)
      expect do
        tx = described_class.begin(database: hasty)
        tx.query("update accounts set balance = 0")
        sleep(0.4)
        expect { tx.query("select 1") }.to raise_error(AsyncRecord::TransactionClosed, /#{File.basename(__FILE__)}:/)
      end.to output(/it was opened at #{__FILE__}/).to_stderr
      expect(balances).to eq([10, 0])
    end

    it "stops a statement when its time is up, and its transaction is undone" do
      expect do
        described_class.timeout(0.2) do
          transaction do
            Account.update_all(balance: 0)
            database.query(sleep_sql(20))
          end
        end
      end.to raise_error(AsyncRecord::QueryTimeout)
      expect(balances).to eq([10, 0])
    end

    it "keeps values out of error messages" do
      expect { Account.create!(owner: "ann") }.to raise_error(AsyncRecord::UniqueViolation) { |error|
        expect([error.message.include?("'ann'"), error.binds]).to match([false, include("[String 3]")])
      }
    end

    it "measures the parts of a statement's time" do
      events = []
      subscription = described_class.subscribe(:query) { |event| events << event }
      3.times { Account.find(1) }
      expect(events.map(&:db_ms)).to all(be_positive)
      expect(events.last.ruby_ms).to be >= 0
      expect(events.last.duration_ms).to be >= events.last.db_ms
    ensure
      described_class.unsubscribe(subscription)
    end

    it "streams records, rows and JSON, and stops when the block is left" do
      Account.insert_all!(Array.new(1000) { |index| { owner: "n#{index}", balance: index } })
      expect(Account.order(:id).stream(batch: 100).map(&:owner).values_at(0, -1)).to eq(%w[ann n999])
      pieces = []
      expect(Account.order(:id).stream_json(pieces, batch: 300)).to eq(1002)
      expect(JSON.parse(pieces.join)).to eq(JSON.parse(Account.order(:id).to_json_bytes))
      Account.stream(batch: 10) { |_| break }
      eventually { database.stats[:busy].zero? }
      expect(transaction { Account.stream(batch: 100) { |_| nil } }).to eq(1002)
    end

    it "holds a lock by name, outside and inside a transaction" do
      lock = ->(wait, &block) { described_class.advisory_lock("it", wait: wait, database: database, &block) }
      busy = -> { Thread.new { lock.call(0) { :free } }.tap { |thread| thread.report_on_exception = false }.value }
      lock.call(nil) { expect(&busy).to raise_error(AsyncRecord::LockTimeout) }
      expect(busy.call).to eq(:free)
      transaction do
        lock.call(1) { nil }
        expect(&busy).to raise_error(AsyncRecord::LockTimeout)
        expect { Thread.new { lock.call(0.2) { nil } }.tap { |thread| thread.report_on_exception = false }.value }
          .to raise_error(AsyncRecord::LockTimeout)
      end
      expect(busy.call).to eq(:free)
      eventually { database.stats[:busy].zero? }
    end

    it "leaves nothing of a test behind, in which statements may fail" do
      described_class::Test.databases = [database]
      described_class::Test.isolate do
        expect { Account.create!(owner: "ann") }.to raise_error(AsyncRecord::UniqueViolation)
        expect { database.query("nonsense") }.to raise_error(AsyncRecord::QueryError)
        Account.transaction { Account.create!(owner: "cyd", balance: 1) }
        expect(Thread.new { Account.count }.value).to eq(3)
        Account.transaction { Account.delete_all && raise(AsyncRecord::Rollback) }
        expect(described_class.gather(Account.async.count, -> { Account.sum(:balance) })).to eq([3, 11])
      end
      expect(balances).to eq([10, 0])
    ensure
      described_class::Test.databases = nil
    end
  end

  each_database(:postgresql, :mysql) do
    before { setup_accounts }

    it "runs again what met a deadlock" do
      described_class.gather(*cross(1, 2, retries: 3))
      expect(balances).to eq([12, 2])
    end

    it "is Deadlock for one of two without retries" do
      results = described_class.gather(*cross(1, 2), settle: true)
      expect(results.grep(AsyncRecord::Deadlock).size).to eq(1)
      expect(balances).to eq([11, 1])
    end

    it "reads from the primary while a replica cannot be reached" do
      there = database.url.sub(%r{:\d+/}, ":1/")
      alone = open_database(database.url, replicas: [there])
      model("Account", alone)
      expect(Account.count).to eq(2)
      expect(alone.stats[:replicas].first).to include(healthy: false, failures: 1)
    end

    it "reads from a replica and comes back to it" do
      copy = fresh_database(kind)
      copy.query("create table accounts (id #{column(:id)}, owner #{column(:string)}, balance #{column(:integer)})")
      copy.query("insert into accounts (owner, balance) values ('copy', 1)")
      both = open_database(database.url, replicas: [copy.url])
      model("Account", both)
      expect(in_fiber { [Account.first.owner, AsyncRecord.using_primary { Account.first.owner }] }).to eq(%w[copy ann])
      expect(in_fiber { Account.where(id: 1).increment(balance: 1) && Account.first.owner }).to eq("ann")
    end
  end

  each_database(:postgresql) do
    before { setup_accounts }

    it "explains why a transaction takes no more, and does not pretend to commit" do
      expect do
        transaction do
          expect { database.query("select nonsense") }.to raise_error(AsyncRecord::QueryError)
          balances
        end
      end.to raise_error(AsyncRecord::QueryError, /earlier statement of this transaction failed.*nonsense.*savepoint/m)
      expect do
        transaction do
          Account.update_all(balance: 0)
          expect { database.query("select nonsense") }.to raise_error(AsyncRecord::QueryError)
        end
      end.to raise_error(AsyncRecord::TransactionClosed, /nothing of this transaction is kept/m)
      expect(balances).to eq([10, 0])
    end

    it "runs again what could not be ordered" do
      Account.where(id: 2).update_all(balance: 5)
      both = Array.new(2) { Thread::Queue.new }
      work = [0, 1].map do |number|
        met = false
        lambda do
          transaction(isolation: :serializable, retries: 5) do
            sum = Account.sum(:balance)
            unless met
              met = true
              both[1 - number] << true
              Timeout.timeout(5) { both[number].pop }
            end
            Account.where(id: number + 1).update_all(balance: sum)
          end
        end
      end
      described_class.gather(*work)
      expect(balances).to eq([15, 20]).or eq([25, 15]) # one after the other, not [15, 15]
    end

    it "takes deferrable" do
      expect(transaction(isolation: :serializable, read_only: true, deferrable: true) { balances }).to eq([10, 0])
    end

    it "hears notifications, also those of a transaction when that commits, and says when it missed some" do
      heard = Thread::Queue.new
      listener = described_class.listen("jobs", "Mails", database: database) { |*event| heard << event }
      listener.on_reconnected { heard << :reconnected }.wait
      described_class.notify("jobs", 1, database: database)
      transaction do
        described_class.notify("Mails", "ä'\"", database: database)
        database.query("select 1")
        expect(Timeout.timeout(5) { heard.pop }).to eq(%w[jobs 1])
        expect(heard).to be_empty
      end
      expect(Timeout.timeout(5) { heard.pop }).to eq(["Mails", "ä'\""])
      database.query("select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen%'")
      expect(Timeout.timeout(10) { heard.pop }).to eq(:reconnected)
      described_class.notify("jobs", 2, database: database)
      expect(Timeout.timeout(5) { heard.pop }).to eq(%w[jobs 2])
    ensure
      listener&.stop
    end
  end
end
