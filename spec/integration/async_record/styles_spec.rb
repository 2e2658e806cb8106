# frozen_string_literal: true

# One call, three ways to get its result: waiting, calling back, promising. In fibers, in threads, in the reactor.
RSpec.describe AsyncRecord::Pending do
  each_database do
    # A statement that does not end by itself, and a condition that does not.
    let(:endless) { sleep_sql(60) }
    let(:never) { endless_condition }

    before do
      database.query("create table users (id #{column(:id)}, name #{column(:string)})")
      model("User", database)
      User.insert_all!([{ name: "ann" }, { name: "bob" }])
    end

    it "is not needed to wait: in a thread and in a fiber the call returns its result" do
      expect(User.find(1).name).to eq("ann")
      expect(Thread.new { User.find(2).name }.value).to eq("bob")
      expect(in_fiber { User.find(2).name }).to eq("bob")
    end

    it "is what a call with a block returns, and the block runs on the dispatcher" do
      expect(User.count { |_| nil }).to be_a(described_class)
      expect(called_back { |done| User.count { |_| done.call(Fastr::Dispatcher.on_dispatcher?) } }).to be(true)
    end

    it "calls the block of every terminal method" do
      all = User.where(id: 1..)
      calls = {
        to_a: [], first: [], last: [], take: [], count: [], ids: [], any?: [], empty?: [], none?: [], exists?: [],
        find: [1], find_by: [{ id: 1 }], sum: [:id], average: [:id], minimum: [:id], maximum: [:id], pluck: [:id],
        pick: [:id], first!: [], last!: [], take!: [], find_by!: [{ id: 1 }], to_json_bytes: [], explain: [],
        find_or_create_by: [{ id: 1 }], find_or_initialize_by: [{ id: 1 }], create: [{ name: "x" }],
        insert_all: [[{ id: 1 }]], insert_all!: [[{ name: "y" }]], upsert_all: [[{ id: 1, name: "z" }]],
        update_all: [{ name: "w" }], increment: [{ id: 100 }], delete_all: []
      }
      calls.each do |name, arguments|
        value, error = called_back { |done| all.public_send(name, *arguments) { |v, e| done.call(v, e) } }
        expect([name, error, value.nil?]).to eq([name, nil, false])
      end
    end

    it "gives every terminal method's result to await after async" do
      expect(User.async.find(1).await.name).to eq("ann")
      expect(User.where(id: 1).async.pluck(:name).await).to eq(["ann"])
      expect(User.async.count.value).to eq(2)
      expect(User.async.order(:id).last.await.name).to eq("bob")
    end

    it "raises from await, in a thread and in a fiber" do
      expect { User.async.find(9).await }.to raise_error(AsyncRecord::RecordNotFound)
      expect { in_fiber { User.async.find(9).await } }.to raise_error(AsyncRecord::RecordNotFound)
    end

    it "calls callbacks that are added late" do
      pending = User.async.count
      pending.await
      counted = called_back do |done|
        pending.on_error { done.call(:error) }
        pending.callback { |count| done.call(count) }
      end
      expect(counted).to eq(2)
      failed = User.async.find(9)
      expect { failed.await }.to raise_error(AsyncRecord::RecordNotFound)
      expect(called_back { |done| failed.errback { |e| done.call(e.class) } }).to eq(AsyncRecord::RecordNotFound)
    end

    it "calls every callback, in order" do
      seen = Thread::Queue.new
      User.async.count.on_success { seen << 1 }.on_success { seen << 2 }
      expect([seen.pop, seen.pop]).to eq([1, 2])
    end

    it "gives an error to on_error, to errback, and to a block's second argument" do
      %i[on_error errback].each do |name|
        expect(called_back { |done| database.query("nonsense") { nil }.public_send(name) { |e| done.call(e) } })
          .to be_a(AsyncRecord::QueryError)
      end
      _, error = called_back { |done| database.query("nonsense") { |rows, e| done.call(rows, e) } }
      expect(error).to be_a(AsyncRecord::QueryError)
    end

    it "raises mistakes in the call at once, where they were made" do
      expect { User.order("1; drop") { nil } }.to raise_error(AsyncRecord::UnsafeSql)
      expect { User.pluck { nil } }.to raise_error(ArgumentError)
    end

    it "keeps callbacks and errors of many apart" do
      results = Thread::Queue.new
      200.times { |index| User.find(index.odd? ? 1 : 99) { |user, error| results << [index, user&.id, error] } }
      got = Array.new(200) { results.pop }
      expect(got.map(&:first).sort).to eq([*0...200])
      expect(got).to all(satisfy { |index, id, error| error.nil? && id == (index.odd? ? 1 : nil) })
    end

    it "stops the statement when it is cancelled" do
      pending = User.async.where(never).to_a
      eventually { database.stats[:busy].positive? }
      pending.cancel
      expect { pending.await }.to raise_error(AsyncRecord::Cancelled)
      eventually { database.stats[:busy].zero? }
    end

    it "calls late callbacks on the dispatcher too" do
      pending = User.async.count
      pending.await
      expect(called_back { |done| pending.on_success { done.call(Fastr::Dispatcher.on_dispatcher?) } }).to be(true)
    end

    it "is no error when the reactor stops before the result is there" do
      expect do
        reactor do
          database.query(endless) { raise "no" }
          Fastr::Reactor.add_timer(0.05) { Fastr::Reactor.stop }
        end
      end.not_to raise_error
      eventually { database.stats[:busy].zero? }
    end

    it "tells the error path of a block when the dispatcher stops before the result is there" do
      told = []
      reactor do
        database.query(endless) { |_, error| told << error } # in a fiber
        User.where(never).all { |_, error| told << error }   # without one
        Fastr::Reactor.add_timer(0.05) { Fastr::Reactor.stop }
      end
      expect(told).to match([have_attributes(class: Fastr::CancelledError, message: /the dispatcher stopped/)] * 2)
      eventually { database.stats[:busy].zero? }
    end

    it "fails in time" do
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      error = called_back { |done| database.query(endless) { nil }.timeout(0.05).on_error { |e| done.call(e) } }
      expect(error).to be_a(AsyncRecord::QueryTimeout)
      expect(Process.clock_gettime(Process::CLOCK_MONOTONIC) - started).to be < 2
      eventually { database.stats[:busy].zero? }
    end

    it "fails in time by the driver's own limit" do
      expect do
        User.timeout(0.05).where(never).count
      end.to raise_error(AsyncRecord::QueryTimeout)
      impatient = open_database(database.url, timeout: 0.05)
      expect { impatient.query(endless) }.to raise_error(AsyncRecord::QueryTimeout)
    end

    describe "gathered" do
      it "gives results in order" do
        expect(AsyncRecord.gather(User.async.count, -> { User.find(2).name }, User.where(id: 1)))
          .to eq([2, "bob", [User.find(1)]])
        expect(in_fiber { AsyncRecord.gather([-> { 1 }, -> { 2 }]) }).to eq([1, 2])
        expect(AsyncRecord.gather).to eq([])
      end

      it "runs at once" do
        running = 0
        most = 0
        work = lambda do
          most = [most, running += 1].max
          sleep(0.02)
          running -= 1
        end
        AsyncRecord.gather(*Array.new(4) { work })
        expect(most).to eq(4)
        most = 0
        AsyncRecord.gather(*Array.new(4) { work }, limit: 2)
        expect(most).to eq(2)
      end

      it "raises the first error and cancels the rest" do
        slow = -> { User.where(never).count }
        expect { AsyncRecord.gather(slow, -> { User.find(9) }) }.to raise_error(AsyncRecord::RecordNotFound)
        eventually { database.stats[:busy].zero? }
      end

      it "cancels everything when whoever waits is interrupted" do
        promised = User.async.where(never).to_a
        expect do
          Timeout.timeout(0.1) { AsyncRecord.gather(-> { User.where(never).count }, promised, limit: 1) }
        end.to raise_error(Timeout::Error)
        eventually { database.stats[:busy].zero? }
        expect { promised.await }.to raise_error(AsyncRecord::Cancelled)
      end

      it "has another name for what is no query" do
        expect(Fastr.all(-> { 1 }, [-> { 2 }], limit: 1)).to eq([1, 2])
        expect(Fastr.all(-> { raise "no" }, settle: true).first.message).to eq("no")
      end

      it "collects errors when told to" do
        values = AsyncRecord.gather(-> { 1 }, -> { User.find(9) }, settle: true)
        expect([values.first, values.last.class]).to eq([1, AsyncRecord::RecordNotFound])
      end
    end
  end
end
