# frozen_string_literal: true

RSpec.describe AsyncRecord::Transaction do
  include Support::Dispatching

  let(:database) { sqlite_database(pool_timeout: 2) }

  before do
    database.query("create table accounts (id integer primary key, owner text unique, balance integer)")
    model("Account", database)
    Account.insert_all!([{ owner: "ann", balance: 10 }, { owner: "bob", balance: 0 }])
  end

  def transaction(**options, &block)
    AsyncRecord.transaction(database: database, **options, &block)
  end

  # The same file, with other options.
  def open_again(**options)
    AsyncRecord::Database.new(database.url, **options).tap { |other| sqlite_databases << other }
  end

  def balances
    Account.order(:id).pluck(:balance)
  end

  it "commits what its block did, and returns its value" do
    result = transaction do
      Account.where(owner: "ann").update_all(balance: 5)
      Account.where(owner: "bob").update_all(balance: 5)
      :done
    end
    expect([result, balances]).to eq([:done, [5, 5]])
  end

  it "is opened by a database, too" do
    expect(database.transaction(isolation: :serializable) { |tx| [tx.class, Account.using(tx).update_all(balance: 1)] })
      .to eq([described_class, 2])
    database.transaction { Account.update_all(balance: 0) && raise(AsyncRecord::Rollback) }
    expect(balances).to eq([1, 1])
  end

  it "takes everything back when its block raises" do
    expect do
      transaction do
        Account.update_all(balance: 0)
        raise "stop"
      end
    end.to raise_error("stop")
    expect(balances).to eq([10, 0])
  end

  it "takes everything back quietly on Rollback" do
    result = transaction do
      Account.update_all(balance: 0)
      raise AsyncRecord::Rollback
    end
    expect([result, balances]).to eq([nil, [10, 0]])
  end

  it "commits when its block is left by return, break or throw" do
    define_singleton_method(:by_return) { transaction { Account.update_all(balance: 1).then { return :left } } }
    expect([by_return, balances]).to eq([:left, [1, 1]])
    catch(:out) { transaction { Account.update_all(balance: 2).then { throw :out } } }
    expect(balances).to eq([2, 2])
  end

  it "takes everything back when its thread is killed" do
    ready = Thread::Queue.new
    thread = Thread.new do
      transaction do
        Account.update_all(balance: 0)
        ready << true
        sleep
      end
    end
    ready.pop
    thread.kill.join
    expect(balances).to eq([10, 0])
  end

  it "is not seen from outside before it is committed" do
    seen = nil
    transaction do
      Account.update_all(balance: 0)
      seen = Thread.new { balances }.value
    end
    expect([seen, balances]).to eq([[10, 0], [0, 0]])
  end

  it "makes a savepoint of a transaction inside another" do
    transaction do
      Account.where(owner: "ann").update_all(balance: 1)
      transaction do
        Account.where(owner: "bob").update_all(balance: 1)
        raise AsyncRecord::Rollback
      end
      begin
        transaction { raise ArgumentError, "inner" }
      rescue ArgumentError
        Account.where(owner: "bob").increment(balance: 7)
      end
    end
    expect(balances).to eq([1, 7])
  end

  it "goes on after a failed statement in a savepoint" do
    transaction do
      expect { transaction { Account.create!(owner: "ann") } }.to raise_error(AsyncRecord::UniqueViolation)
      Account.create!(owner: "cyd", balance: 3)
    end
    expect(balances).to eq([10, 0, 3])
  end

  it "runs hooks after the commit, outside of the transaction, in order" do
    log = []
    transaction do |tx|
      tx.after_commit { log << balances }
      tx.after_commit { log << :second }
      tx.after_rollback { log << :never }
      Account.update_all(balance: 0)
      log << :inside
    end
    expect(log).to eq([:inside, [0, 0], :second])
  end

  it "forgets the hooks of a savepoint that was taken back" do
    log = []
    transaction do |tx|
      tx.after_commit { log << :outer }
      transaction do |inner|
        inner.after_commit { log << :inner }
        raise AsyncRecord::Rollback
      end
    end
    expect(log).to eq([:outer])
  end

  it "runs a model's hooks once everything is committed, and not for what a savepoint took back" do
    log = []
    model("Logged", database) do
      self.table_name = "accounts"
      after_commit { log << owner }
    end
    lost = nil
    transaction do
      transaction { Logged.create!(owner: "kept") }
      transaction do
        lost = Logged.create!(owner: "lost")
        raise AsyncRecord::Rollback
      end
      log << :inside
    end
    expect([log, lost.new_record?, Logged.where(owner: "lost").count]).to eq([[:inside, "kept"], true, 0])
  end

  it "runs hooks after a rollback" do
    log = []
    transaction do |tx|
      tx.after_rollback { log << :undone }
      raise AsyncRecord::Rollback
    end
    expect(log).to eq([:undone])
  end

  it "refuses to be used after its end" do
    ended = transaction { |tx| tx }
    expect(ended.state).to eq(:committed)
    expect { Account.using(ended).count }.to raise_error(AsyncRecord::TransactionClosed, /is committed/)
    expect { ended.commit }.to raise_error(AsyncRecord::TransactionClosed)
  end

  it "can be ended inside its block" do
    transaction do |tx|
      Account.update_all(balance: 0)
      tx.rollback
    end
    expect(balances).to eq([10, 0])
  end

  it "belongs to its fiber: another fiber is outside" do
    inside = outside = nil
    ready = Thread::Queue.new
    over = Thread::Queue.new
    first = AsyncRecord.async do
      transaction do
        Account.update_all(balance: 0)
        inside = balances
        ready << true
        over.pop
      end
    end
    ready.pop
    in_fiber { outside = balances }
    over << true
    first.await
    expect([inside, outside, balances]).to eq([[0, 0], [10, 0], [0, 0]])
  end

  it "keeps two fibers' transactions apart, one after the other" do
    work = lambda do |amount|
      lambda do
        transaction do
          balance = Account.find(1).balance
          sleep(0.01)
          Account.where(id: 1).update_all(balance: balance + amount)
        end
      end
    end
    in_fiber { AsyncRecord.gather(*Array.new(5) { work.call(1) }) }
    expect(Account.find(1).balance).to eq(15)
  end

  it "goes along into the work that its block starts" do
    transaction do
      Account.update_all(balance: 0)
      expect(AsyncRecord.gather(Account.async.sum(:balance), -> { Account.pluck(:balance) })).to eq([0, [0, 0]])
      expect(called_back { |done| Account.sum(:balance) { |sum| done.call(sum) } }).to eq(0)
      raise AsyncRecord::Rollback
    end
  end

  it "is not what a callback runs in: that names its transaction" do
    inside = Thread::Queue.new
    transaction do |tx|
      Account.update_all(balance: 1)
      Account.count { inside << [balances, Account.using(tx).order(:id).pluck(:balance)] }
      expect(Timeout.timeout(5) { inside.pop }).to eq([[10, 0], [1, 1]])
    end
  end

  it "does not begin for one who gave up waiting for it" do
    holding = Thread::Queue.new
    holder = AsyncRecord.async do
      transaction do
        Account.update_all(balance: 1)
        holding << true
        sleep(0.1)
      end
    end
    holding.pop
    impatient = AsyncRecord.async { transaction { Account.update_all(balance: 2) } }
    eventually { database.stats[:waiting].positive? }
    impatient.cancel
    expect { impatient.await }.to raise_error(AsyncRecord::Cancelled)
    holder.await
    expect(Account.update_all("owner" => AsyncRecord.sql("owner"))).to eq(2)
    expect(balances).to eq([1, 1])
  end

  it "starts again when the database is busy" do
    attempts = 0
    result = transaction(retries: 2) do
      attempts += 1
      raise AsyncRecord::BusyError, "busy" if attempts < 3

      attempts
    end
    expect(result).to eq(3)
    expect { transaction(retries: 1) { raise AsyncRecord::BusyError, "busy" } }.to raise_error(AsyncRecord::BusyError)
  end

  it "stores a record within a transaction handed on" do
    AsyncRecord.begin(database: database).then do |tx|
      account = Account.using(tx).find(1)
      account.update({ balance: 99 }, using: tx)
      expect(Account.using(tx).find(1).balance).to eq(99)
      expect(balances).to eq([10, 0])
      tx.rollback
    end
    expect(balances).to eq([10, 0])
  end

  it "runs in callback style, ended by its commit" do
    total = called_back do |done|
      AsyncRecord.begin(database: database) do |tx|
        Account.using(tx).find(1) do |account|
          account.update({ balance: 3 }, using: tx) { tx.commit { done.call(balances) } }
        end
      end
    end
    expect(total).to eq([3, 0])
  end

  it "is taken back when its callback raises" do
    error = called_back do |done|
      AsyncRecord.on_error { |e| done.call(e) }
      Fastr::Dispatcher.instance.error_handler = ->(e) { done.call(e) }
      AsyncRecord.begin(database: database) do |tx|
        Account.using(tx).update_all(balance: 0)
        raise "stop"
      end
    end
    expect([error.message, balances]).to eq(["stop", [10, 0]])
  ensure
    AsyncRecord.on_error
    Fastr::Dispatcher.instance.error_handler = nil
  end

  it "is taken back by the driver when nothing is asked of it for long" do
    hasty = open_again(idle_in_transaction: 0.1)
    tx = AsyncRecord.begin(database: hasty)
    expect do
      tx.query("update accounts set balance = 0")
      sleep(0.4)
    end.to output(/was rolled back/).to_stderr
    expect { tx.query("select 1") }
      .to raise_error(AsyncRecord::TransactionClosed, /no statement for 0\.1 s.*opened at #{__FILE__}:#{__LINE__ - 6}/)
    expect(balances).to eq([10, 0])
  end

  it "is reported with the line that opened it when nobody ends it, and its rollback hooks run" do
    hasty = open_again(idle_in_transaction: 0.1)
    told = Thread::Queue.new
    expect do
      AsyncRecord.begin(database: hasty).after_rollback { told << :undone }
      expect(Timeout.timeout(5) { told.pop }).to eq(:undone)
    end.to output(/no statement for 0\.1 s; it was opened at #{__FILE__}:#{__LINE__ - 2}$/).to_stderr
    expect(balances).to eq([10, 0])
  end

  it "is not taken for idle while a statement of it runs" do
    hasty = open_again(idle_in_transaction: 0.1)
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000000) select count(*) from n"
    expect do
      AsyncRecord.transaction(database: hasty) { hasty.query(endless) }
    end.not_to output.to_stderr
  end

  it "serves several fibers in the order in which they ask" do
    seen = []
    transaction do
      AsyncRecord.gather(*Array.new(20) { |index| -> { Account.update_all(balance: index) && seen << index } })
    end
    expect(seen).to eq([*0...20])
    expect(balances).to eq([19, 19])
  end

  it "keeps the savepoints of several fibers apart" do
    transaction do
      work = Array.new(6) do |index|
        lambda do
          transaction do
            Account.where(id: 1).increment(balance: 1)
            sleep(0.002)
            raise AsyncRecord::Rollback if index.odd?
          end
        end
      end
      AsyncRecord.gather(*work)
    end
    expect(balances).to eq([13, 0])
  end

  it "keeps what a savepoint did that is left by throw" do
    transaction do
      catch(:out) { transaction { Account.update_all(balance: 4).then { throw :out } } }
      transaction { Account.where(id: 1).increment(balance: 1) }
    end
    expect(balances).to eq([5, 4])
  end

  it "takes everything back when its time is up, in a thread and in a fiber" do
    slow = lambda do
      Timeout.timeout(0.05) do
        transaction do
          Account.update_all(balance: 0)
          sleep
        end
      end
    end
    expect(&slow).to raise_error(Timeout::Error)
    expect { in_fiber(&slow) }.to raise_error(Timeout::Error)
    expect(balances).to eq([10, 0])
  end

  it "takes everything back when the time of its statements is up" do
    expect do
      AsyncRecord.timeout(0.05) do
        transaction do
          Account.update_all(balance: 0)
          database.query("with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n")
        end
      end
    end.to raise_error(AsyncRecord::QueryTimeout)
    expect(balances).to eq([10, 0])
  end

  it "fails when its block goes on after the driver took it back, instead of pretending" do
    hasty = open_again(idle_in_transaction: 0.1)
    seen = []
    expect do
      AsyncRecord.transaction(database: hasty) do |tx|
        tx.after_commit { seen << :committed }
        tx.after_rollback { seen << :undone }
        tx.query("update accounts set balance = 0")
        sleep(0.3)
        begin
          tx.query("select 1")
        rescue AsyncRecord::TransactionClosed
          seen << :told
        end
      end
    end.to raise_error(AsyncRecord::TransactionClosed).and output(/opened at/).to_stderr
    expect([seen.uniq.sort, balances]).to eq([%i[told undone], [10, 0]])
  end

  describe "begun for a request" do
    let(:closing) { Thread::Queue.new }

    it "is rolled back when the client leaves" do
      left = Thread::Queue.new
      port = serve do |request|
        AsyncRecord.begin(database: database) do |tx|
          tx.after_rollback { left << :rolled_back }
          Account.using(tx).update_all(balance: 0) { closing << request.id }
        end
      end
      socket = TCPSocket.new("127.0.0.1", port)
      socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      closing.pop
      socket.close
      expect(Timeout.timeout(5) { left.pop }).to eq(:rolled_back)
      expect(balances).to eq([10, 0])
    end

    it "is rolled back when the client leaves its block, also amid a slow statement" do
      slow = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"
      port = serve do
        transaction do |tx|
          tx.after_rollback { closing << :rolled_back }
          Account.update_all(balance: 0)
          closing << :busy
          database.query(slow)
        end
      end
      socket = TCPSocket.new("127.0.0.1", port)
      socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      closing.pop
      socket.close
      expect(Timeout.timeout(5) { closing.pop }).to eq(:rolled_back)
      expect(balances).to eq([10, 0])
    end
  end

  it "refuses BEGIN, COMMIT and ROLLBACK as statements, and says what to use" do
    %w[BEGIN COMMIT ROLLBACK].each do |sql|
      expect { database.query(sql) }.to raise_error(AsyncRecord::QueryError, /transaction/)
    end
  end
end
