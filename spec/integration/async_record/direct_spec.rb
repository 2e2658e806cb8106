# frozen_string_literal: true

# A plain query with a block, asked on the dispatcher outside of any transaction: no fiber waits for it.
RSpec.describe AsyncRecord::Pending, "without a fiber" do
  each_database do
    let(:endless) { endless_condition }

    before do
      database.query("create table users (id #{column(:id)}, name #{column(:string)})")
      model("User", database)
      User.insert_all!([{ name: "ann" }, { name: "bob" }])
      User.columns
    end

    it "gives records, values and JSON to the block, on the dispatcher and in a later turn" do
      seen = called_back_in_turn do |done|
        results = []
        add = ->(value) { done.call(results) if (results << value).size == 4 }
        User.order(:id).all { |users| add.call(users.map(&:name)) }
        User.order(id: :desc).pluck(:name) { |names| add.call(names) }
        User.where(id: 2).select(:name).to_json_bytes { |json| add.call(json) }
        add.call(:first)
      end
      expect(seen).to contain_exactly(:first, %w[ann bob], %w[bob ann], '[{"name":"bob"}]')
      expect(seen.first).to eq(:first)
    end

    it "gives the value in the way that the block takes it" do
      blocks = lambda do |found|
        [proc { found.call(:none) }, proc { |name| found.call(name) }, proc { |*all| found.call(all) },
         proc { |names, error| found.call([names, error]) }, ->(names, error) { found.call([names, error]) },
         found]
      end
      seen = called_back_in_turn do |done|
        results = []
        found = ->(value) { done.call(results) if (results << value).size == 6 }
        blocks.call(found).each { |block| User.order(:id).limit(1).pluck(:name, &block) }
      end
      expect(seen).to contain_exactly(:none, ["ann"], [["ann"]], [["ann"], nil], [["ann"], nil], ["ann"])
    end

    it "calls the block first, then what was added, though one of them raises" do
      seen = []
      called_back_in_turn do |done|
        pending = User.order(:id).pluck(:name) { |names| raise((seen << names).to_s) }
        pending.on_success { seen << :second }.on_success { done.call(nil) }
        Fastr::Dispatcher.instance.error_handler = ->(error) { seen << error.class }
      end
      eventually { seen.size == 3 }
      expect(seen).to eq([%w[ann bob], :second, RuntimeError])
    ensure
      Fastr::Dispatcher.instance.error_handler = nil
    end

    it "is asked by promises as well, which keep their error for whoever awaits" do
      seen = called_back_in_turn do |done|
        names = User.async.order(:id).pluck(:name)
        json = User.async.where(id: 2).select(:name).to_json_bytes
        Fastr::Dispatcher.next_tick { done.call([names.await, json.await]) }
      end
      expect(seen).to eq([%w[ann bob], '[{"name":"bob"}]'])
      database.query("alter table users rename to people")
      error = called_back_in_turn { |done| done.call(User.async.pluck(:name)) }
      expect { error.await }.to raise_error(AsyncRecord::QueryError) { |e|
        expect(e.backtrace.join("\n")).to include(__FILE__)
      }
    ensure
      database.query("alter table people rename to users")
    end

    it "finds by key for promises, and says which key is missing and who asked" do
      found, missing = called_back_in_turn { |done| done.call([User.async.find(2), User.async.find(77)]) }
      expect(found.await.name).to eq("bob")
      expect { missing.await }.to raise_error(AsyncRecord::RecordNotFound, "there is no User with id 77") { |error|
        expect(error.backtrace.join("\n")).to include(__FILE__)
      }
    end

    it "gives one record, several or none, what there is and how many, and says what is missing" do
      allow(described_class).to receive(:spawn).and_call_original
      bob = User.where(name: "bob")
      nobody = User.where(name: "zoe")
      seen = called_back_in_turn do |done|
        asked = [User.async.first, User.async.first(2), bob.async.take, nobody.async.take, User.async.find_by(id: 2),
                 bob.async.count, bob.async.exists?, nobody.async.empty?, bob.async.first!, User.limit(1).async.any?]
        done.call([asked, [nobody.async.first!, nobody.async.take!]])
      end
      values = AsyncRecord.gather(*seen.first)
      expect(values[0..4].flatten).to all(be_a(User).or(be_nil))
      expect(values[0..4].flatten.map { |user| user&.name }).to eq(["ann", "ann", "bob", "bob", nil, "bob"])
      expect(values[5..7] + values[9..]).to eq([1, true, true, true])
      expect(AsyncRecord.gather(*seen.last, settle: true)).to all(be_a(AsyncRecord::RecordNotFound))
      expect(described_class).not_to have_received(:spawn)
    end

    it "loads along in a fiber, and so does what is wrong with the number of records" do
      model("Pet", database) { belongs_to :user }
      User.has_many :pets
      database.query("create table pets (id #{column(:id)}, user_id integer)")
      Pet.insert_all!([{ user_id: 1 }])
      user, error = called_back_in_turn do |done|
        User.preload(:pets).order(:id).first do |found|
          User.take("many") { |_, refused| done.call([found, refused]) }
        end
      end
      expect([user.pets.loaded?, user.pets.size]).to eq([true, 1])
      expect(error).to be_a(ArgumentError)
    end

    it "takes the same way within work that was started" do
      allow(described_class).to receive(:ask).and_call_original
      names = AsyncRecord.async { AsyncRecord.gather(User.async.find(2), User.async.order(:id)).flatten.map(&:name) }
      expect(names.await).to eq(%w[bob ann bob])
      expect(described_class).to have_received(:ask).twice
    end

    it "keeps what is set around such work" do
      allow(described_class).to receive(:ask).and_call_original
      work = AsyncRecord.async do
        AsyncRecord.timeout(0.05) { User.async.where(endless).to_a }.await
      end
      expect { work.await }.to raise_error(AsyncRecord::QueryTimeout)
      names = AsyncRecord.async do
        database.transaction do
          User.create!(name: "cid")
          User.async.find(User.maximum(:id)).await.name
        end
      end
      expect(names.await).to eq("cid")
      expect(described_class).not_to have_received(:ask)
    end

    it "gives the errors of the statement and of the names to the error path" do
      database.query("alter table users rename to people")
      error = called_back_in_turn { |done| User.all.to_a { |_, refused| done.call(refused) } }
      expect(error).to be_a(AsyncRecord::QueryError)
      database.query("alter table people rename to users")
      error = called_back_in_turn { |done| User.order(:nmae).to_a { nil }.on_error { |e| done.call(e) } }
      expect(error).to be_a(AsyncRecord::UnknownColumn)
    end

    it "is cancelled and fails in time, and stops its statement" do
      cancelled = called_back_in_turn { |done| User.where(endless).to_a { nil }.on_error { |e| done.call(e) }.cancel }
      expect(cancelled).to be_a(AsyncRecord::Cancelled)
      late = called_back_in_turn { |done| User.where(endless).to_a { nil }.timeout(0.05).on_error { |e| done.call(e) } }
      expect(late).to be_a(AsyncRecord::QueryTimeout)
      eventually { database.stats[:busy].zero? }
    end

    it "is awaited by a fiber and by a thread" do
      pending = called_back_in_turn { |done| done.call(User.order(:id).to_a { nil }) }
      expect(pending.await.size).to eq(2)
    end

    it "ends with its request when the client leaves" do
      model("Slow", database) { self.table_name = "slow" }
      database.query("create view slow as select count(*) as n from (#{sleep_sql(60)}) as sleeping")
      Slow.columns
      errors = Thread::Queue.new
      port = serve_app(Fastr.app do
                         get("/a") do
                           defer_response(200, {}) { Slow.all { |_, error| errors << error } }
                         end
                       end)
      connection(port) { |socket| socket.write("GET /a HTTP/1.1\r\nHost: a\r\n\r\n") && socket.readpartial(100) }
      expect(errors.pop).to be_a(Fastr::DisconnectedError)
      eventually { database.stats[:busy].zero? }
    end

    it "uses the text of an equal shape with its own values, and forgets it with the table" do
      expect(User.where(id: 1, name: "ann").pluck(:name)).to eq(["ann"])
      expect(User.where(id: 2, name: "bob").pluck(:name)).to eq(["bob"])
      expect(User.where(id: "2").limit(1).offset(0).pluck(:id)).to eq([2])
      expect(User.where(id: nil).pluck(:name)).to eq([])
      database.query("alter table users add column age integer")
      expect(User.first.attributes.keys).to eq(%w[id name age])
    end
  end
end
