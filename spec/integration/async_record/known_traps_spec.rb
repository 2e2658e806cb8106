# frozen_string_literal: true

# What breaks database layers, each once by name: the traps that were known before the first line of this one was
# written. A server killed with -9 is in server_faults_spec.
RSpec.describe "The known traps of databases" do
  # One connection: the next statement has to wait for the one before.
  def only_connection
    @only_connection ||= fresh_database(size: 1)
  end

  # The machine may be busy with something else: of some attempts the best counts.
  def shortest(attempts = 5, &block)
    Array.new(attempts) { elapsed(&block) }.min
  end

  each_database do
    it "a statement that gets a Float, then an Integer, then a String, finds the same row each time" do
      database = only_connection
      database.execute("create table numbers (id #{column(:id)}, whole #{column(:integer)}, ratio #{column(:float)})")
      database.execute("insert into numbers (whole, ratio) values (42, 42), (43, 43)")
      [42.0, 42, "42", BigDecimal(42), 42.0, 42].each do |value|
        %w[whole ratio].each do |name|
          expect(database.query("select id from numbers where #{name} = ?", value)).to eq([{ "id" => 1 }])
        end
      end
      expect(database.query("select id from numbers where whole = ?", nil)).to eq([])
    end

    it "a table that another connection changes under a cached statement is read as it is" do
      database = only_connection
      database.execute("create table notes (id #{column(:id)}, body #{column(:string)}, old #{column(:integer)})")
      database.execute("insert into notes (body, old) values ('first', 1)")
      model("Note", database)
      read = -> { [database.query("select * from notes"), Note.first&.body, Note.where(id: 1).pluck(:body)] }
      3.times { expect(read.call.first).to eq([{ "id" => 1, "body" => "first", "old" => 1 }]) }
      other = open_database(database.url)
      other.execute("alter table notes add column extra varchar(20) default 'new'")
      3.times do
        expect(read.call).to eq([[{ "id" => 1, "body" => "first", "old" => 1, "extra" => "new" }], "first", ["first"]])
      end
      other.execute("alter table notes drop column old")
      expect { Note.first }.to raise_error(AsyncRecord::QueryError, /\bold\b/) # once: then the table is looked at again
      3.times { expect(read.call).to eq([[{ "id" => 1, "body" => "first", "extra" => "new" }], "first", ["first"]]) }
    end

    it "a query that is cancelled after 0.2 s frees its connection in less than 50 ms" do
      database = only_connection
      times = Array.new(3) do
        pending = database.query(sleep_sql(20)) { nil }.on_error { |_| nil }
        sleep 0.2
        pending.cancel
        elapsed { database.query("select 1") }
      end
      expect(times.min).to be < relaxed(0.05)
    end

    it "a query that runs out of its 0.2 s frees its connection in less than 50 ms" do
      database = only_connection
      database.query("select 1")
      took = shortest(3) do
        expect { AsyncRecord.timeout(0.2) { database.query(sleep_sql(20)) } }.to raise_error(AsyncRecord::QueryTimeout)
        expect(database.query("select 1 as one")).to eq([{ "one" => 1 }])
      end
      expect(took).to be_between(0.2, relaxed(0.25))
    end

    it "BEGIN, COMMIT and their likes as statements are refused, and leave nothing to the next user" do
      database = only_connection
      ["BEGIN", "begin;", " /* x */ Begin", "-- x\nBEGIN", "COMMIT", "rollback", "SAVEPOINT a", "release savepoint a",
       *("START TRANSACTION" unless kind == :sqlite)].each do |sql|
        expect { database.query(sql) }.to raise_error(AsyncRecord::QueryError, /transaction/)
        expect { database.execute(sql) }.to raise_error(AsyncRecord::QueryError, /transaction/)
      end
      database.execute("create table notes (body varchar(20))")
      database.execute("insert into notes values ('kept')")
      expect(witness("select body from notes", database)).to eq([["kept"]])
    end
  end

  each_database(:postgresql) do
    it "infinity is a value like others" do
      database.execute("create table moments (id #{column(:id)}, day date, moment timestamptz, plain timestamp)")
      model("Moment", database)
      endless = Float::INFINITY
      Moment.create!(day: endless, moment: -endless, plain: endless)
      database.execute("insert into moments (day, moment, plain) values (?, ?, ?)", -endless, endless, "-infinity")
      expect(Moment.order(:id).pluck(:day, :moment, :plain))
        .to eq([[endless, -endless, endless], [-endless, endless, -endless]])
      expect(witness("select day, moment, plain from moments order by id"))
        .to eq([%w[infinity -infinity infinity], %w[-infinity infinity -infinity]])
      expect(Moment.where(moment: endless).ids).to eq([2])
      expect(JSON.parse(Moment.limit(1).select(:day, :moment).to_json_bytes)).to eq(["day" => nil, "moment" => nil])
      expect(JSON.generate(Moment.order(:id).to_a)).to eq(Moment.order(:id).to_json_bytes)
    end
  end

  each_database(:mysql) do
    it "infinity is refused before it is sent, where there is none" do
      database.execute("create table moments (id #{column(:id)}, moment datetime(6))")
      insert = "insert into moments (moment) values (?)"
      expect { database.execute(insert, Float::INFINITY) }.to raise_error(AsyncRecord::QueryError, /value 1 is inf/)
      expect(witness("select count(*) from moments")).to eq([["0"]])
    end
  end

  each_database(:postgresql, :mysql) do
    it "a number of 30 digits keeps them all" do
      type = kind == :mysql ? "decimal(65, 30)" : "numeric"
      number = BigDecimal("12345678901234567890.0123456789")
      database.execute("create table sums (id #{column(:id)}, amount #{type})")
      model("Sum", database)
      Sum.create!(amount: number)
      database.execute("insert into sums (amount) values (?), (?)", -number, number.to_s("F"))
      expect(Sum.order(:id).pluck(:amount)).to eq([number, -number, number])
      expect(Sum.where(amount: number).ids).to eq([1, 3])
      expect(witness("select count(*) from sums where amount = 12345678901234567890.0123456789")).to eq([["2"]])
      expect(JSON.parse(Sum.where(id: 1).to_json_bytes).first["amount"].sub(/0+\z/, "")).to eq(number.to_s("F"))
    end
  end

  each_database(:sqlite) do
    it "a transaction that reads before it writes is not turned away (517): it holds the lock from its beginning" do
      database.execute("create table notes (id integer primary key, body text)")
      other = open_database
      order = Thread::Queue.new
      late = nil
      AsyncRecord.transaction(database: database) do |tx|
        expect(tx.query("select count(*) as n from notes")).to eq([{ "n" => 0 }])
        late = AsyncRecord.async { other.execute("insert into notes (body) values ('late')").tap { order << :late } }
        eventually { other.stats[:busy].positive? }
        tx.query("insert into notes (body) values ('early')")
        order << :early
      end
      late.await
      expect([order.pop, order.pop]).to eq(%i[early late])
      expect(witness("select body from notes order by id")).to eq([["early"], ["late"]])
    end

    it "a database in memory serves several fibers, though it has one connection" do
      memory = memory_database
      memory.execute("create table notes (id integer primary key, body text)")
      work = Array.new(4) do |number|
        lambda do
          AsyncRecord.transaction(database: memory) do |tx|
            tx.query("insert into notes (body) values (?)", "inside #{number}")
            sleep 0.001
            tx.query("select count(*) as n from notes").first["n"]
          end
          memory.execute("insert into notes (body) values (?)", "outside #{number}")
          memory.query("select count(*) as n from notes").first["n"]
        end
      end
      counts = Timeout.timeout(5) { in_fiber { AsyncRecord.gather(*work) } }
      expect(counts).to all(be_between(2, 8))
      expect(memory.query("select count(*) as n from notes")).to eq([{ "n" => 8 }])
    end
  end
end
