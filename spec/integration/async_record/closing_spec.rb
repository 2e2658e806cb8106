# frozen_string_literal: true

RSpec.describe "Closing a database" do
  each_database do
    it "answers what runs and what waits, keeps the reactor going, and opens anew with the next statement" do
      database.query("select 1")
      errors = Thread::Queue.new
      passed = Thread::Queue.new
      running = AsyncRecord.async { database.query(sleep_sql(5)) }.on_error { |error| errors << error }
      sleep 0.1
      in_fiber do
        Fastr::Reactor.next_tick { passed << true }
        database.close
      end
      expect([running.settled?, errors.pop.class.ancestors.include?(AsyncRecord::Error), passed.pop]).to eq([true] * 3)
      expect(database.query("select 1 as one")).to eq([{ "one" => 1 }])
    end

    it "can be interrupted" do
      database.query("select 1")
      closing = Thread.new { database.close }
      closing.kill
      expect(closing.join(5)).to be(closing)
      expect(database.query("select 1 as one")).to eq([{ "one" => 1 }])
    end

    # A program that closes its database while threads still work meets this: the next statement opens a new pool.
    it "leaves no transaction that could be mistaken for one of after it" do
      database.execute("create table notes (text #{column(:string)})")
      old = AsyncRecord.begin(database: database)
      old.query("insert into notes values ('old')")
      database.close
      young = AsyncRecord.begin(database: database)
      expect(young.id).not_to eq(old.id)
      refused = [AsyncRecord::TransactionClosed, /its database was closed/]
      expect { old.query("insert into notes values ('late')") }.to raise_error(*refused)
      expect { old.rollback }.to raise_error(*refused)
      young.query("insert into notes values ('young')")
      young.commit
      expect(database.query("select text from notes").to_a).to eq([{ "text" => "young" }])
    end
  end
end
