# frozen_string_literal: true

# Threads and fibers that are interrupted at any moment: whatever they held is given back at once.
RSpec.describe AsyncRecord, "interrupted at any moment", limit: 60 do
  each_database do
    let(:database) { fresh_database(size: 2, pool_timeout: 20) }

    before { database.query("select 1") }

    # As often before its end as after it, however fast the machine is.
    def interrupt_often(&work)
      limit = 2 * [*Array.new(5) { elapsed(&work) }, 0.005].min
      interrupted = Array.new(4) { Thread.new { Array.new(60) { interrupt(limit, &work) }.count(:late) } }.sum(&:value)
      expect(interrupted).to be_positive
      eventually { database.stats.values_at(:busy, :waiting) == [0, 0] }
    end

    def interrupt(limit, &work)
      Timeout.timeout(0.0001 + (rand * limit), &work)
    rescue Timeout::Error
      :late
    end

    # @return [Integer, String] how many lines were run, or the one that was struck
    def struck_at(number, &block)
      thread = Thread.current
      count = 0
      place = nil
      trace = TracePoint.new(:line) do |event|
        next unless Thread.current.equal?(thread) && event.path.include?("/lib/async_record")
        next unless (count += 1) == number

        place = "#{event.path}:#{event.lineno}"
        thread.raise(Timeout::Error)
      end
      trace.enable(&block)
      place || count
    rescue Timeout::Error
      place
    end

    # What chance does not find: an interrupt at each line of this library in turn.
    #
    # @return [Array] the lines after which the work had another result than it should, or none
    def struck_everywhere(&work)
      lines = struck_at(nil, &work)
      expect(lines).to be > 100
      (1..lines).filter_map do |line|
        Thread.new do
          place = struck_at(line, &work)
          place if work.call != [{ "one" => 1 }]
        rescue AsyncRecord::Error => error
          [place, error.message]
        end.value
      end
    end

    it "leaves no transaction open" do
      interrupt_often do
        AsyncRecord.transaction(database: database) { |tx| 3.times { tx.query("select 1") } }
      end
      expect(AsyncRecord.transaction(database: database) { |tx| tx.query("select 1 as one") }).to eq([{ "one" => 1 }])
    end

    # What chance does not find: an interrupt at each line of this library in turn.
    it "leaves nothing of a transaction behind in its thread, whichever line is struck" do
      work = -> { AsyncRecord.transaction(database: database) { |tx| tx.query("select 1 as one") } }
      expect(struck_everywhere(&work)).to eq([])
      eventually { database.stats.values_at(:busy, :waiting) == [0, 0] }
    end

    it "does not take a transaction for idle that is over, whichever line was struck" do
      database = fresh_database(size: 2, pool_timeout: 20, idle_in_transaction: 1)
      database.query("select 1")
      work = -> { AsyncRecord.transaction(database: database) { |tx| tx.query("select 1 as one") } }
      expect do
        struck_everywhere(&work)
        sleep(1.3)
      end.not_to output.to_stderr
    end

    it "leaves no stream open" do
      database.execute("create table numbers (n #{column(:integer)})")
      database.execute("insert into numbers values #{Array.new(500) { |number| "(#{number})" }.join(",")}")
      interrupt_often { database.stream("select a.n from numbers a, numbers b", batch: 100) { |_| nil } }
      expect(database.query("select 1 as one")).to eq([{ "one" => 1 }])
    end
  end

  # A deferred trigger makes the commit itself slow. Nobody stops a commit that runs; its end decides what is called.
  each_database(:postgresql) do
    let(:database) { fresh_database(size: 1) }
    let(:seen) { Thread::Queue.new }

    before do
      database.execute("create table notes (text varchar)")
      database.script(<<~SQL)
        create function slowly() returns trigger language plpgsql as
          $$ begin
            perform pg_sleep(0.6);
            if new.text = 'bad' then raise exception 'bad'; end if;
            return null;
          end $$;
        create constraint trigger slow after insert on notes deferrable initially deferred
          for each row execute function slowly();
      SQL
    end

    def interrupted_commit(text, limit: 0.3)
      Timeout.timeout(limit) do
        AsyncRecord.transaction(database: database) do |tx|
          tx.after_commit { seen << :committed }
          tx.after_rollback { seen << :rolled_back }
          tx.query("insert into notes values (?)", text)
        end
      end
    end

    def kept
      database.query("select text from notes").map { |row| row["text"] }
    end

    it "calls what waited for the commit when the commit was done all the same" do
      expect { interrupted_commit("good") }.to raise_error(Timeout::Error)
      expect([kept, Timeout.timeout(5) { seen.pop }, seen.size]).to eq([["good"], :committed, 0])
    end

    it "calls what waited for a rollback when the commit failed" do
      expect { interrupted_commit("bad") }.to raise_error(Timeout::Error)
      expect([kept, Timeout.timeout(5) { seen.pop }, seen.size]).to eq([[], :rolled_back, 0])
    end

    it "waits for it in a fiber, too, whatever interrupts that" do
      expect { in_fiber { interrupted_commit("good") } }.to raise_error(Timeout::Error)
      expect([kept, Timeout.timeout(5) { seen.pop }, seen.size]).to eq([["good"], :committed, 0])
    end

    it "does the same for a transaction that is committed by hand" do
      transaction = AsyncRecord.begin(database: database)
      transaction.after_commit { seen << :committed }
      transaction.after_rollback { seen << :rolled_back }
      transaction.query("insert into notes values ('good')")
      expect { Timeout.timeout(0.3) { transaction.commit } }.to raise_error(Timeout::Error)
      expect([kept, Timeout.timeout(5) { seen.pop }, seen.size]).to eq([["good"], :committed, 0])
    end

    it "calls what waited for a rollback when a commit by hand fails" do
      transaction = AsyncRecord.begin(database: database)
      transaction.after_rollback { seen << transaction.state }
      transaction.query("insert into notes values ('bad')")
      expect { transaction.commit }.to raise_error(AsyncRecord::QueryError, /bad/)
      expect([seen.size, seen.pop]).to eq([1, :rolled_back])
    end

    it "finds out later about a commit that takes longer than a thread waits on" do
      stub_const("AsyncRecord::Held::PATIENCE", 0.05)
      outcomes = []
      listener = AsyncRecord.subscribe(:transaction) { |event| outcomes << event.outcome }
      expect { interrupted_commit("good") }.to raise_error(Timeout::Error)
      expect([kept, Timeout.timeout(5) { seen.pop }, seen.size]).to eq([["good"], :committed, 0])
      expect(outcomes).to eq([:committed])
    ensure
      AsyncRecord.unsubscribe(listener)
    end

    it "tells a thread that is killed while it commits the same" do
      thread = Thread.new { interrupted_commit("good", limit: 30) }
      sleep(0.15)
      thread.kill.join
      expect([kept, Timeout.timeout(5) { seen.pop }, seen.size]).to eq([["good"], :committed, 0])
    end
  end
end
