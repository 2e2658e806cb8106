# frozen_string_literal: true

# Servers that die, refuse, or stop answering, while a program uses them.
RSpec.describe "AsyncRecord when the server fails", limit: 60 do
  each_database(:postgresql, :mysql) do
    # Whatever an example left behind: the next one finds a server that answers.
    after { server.restart }

    let(:database) { fresh_database(size: 3, pool_timeout: 2) }

    def one
      database.query("select 1 as one").first["one"]
    end

    # After an attempt that failed there is none for up to a second: who asks meanwhile is told the cause at once.
    def answers_again?
      eventually do
        one == 1
      rescue AsyncRecord::ConnectionError
        false
      end
    end

    it "goes on after kill -9 and a restart as if nothing had been" do
      expect(one).to eq(1)
      server.restart
      expect(Array.new(6) { one }).to eq([1] * 6)
    end

    it "does not repeat statements that change something, and heals the connections they were on" do
      database.execute("create table notes (body varchar(20))")
      write = "insert into notes select 'x' from (#{sleep_sql(5)}) as slow"
      writes = Array.new(3) { AsyncRecord.async { database.execute(write) } }
      sleep 0.3
      server.restart
      expect(AsyncRecord.gather(*writes, settle: true)).to all(be_a(AsyncRecord::ConnectionLost))
      expect(witness("select count(*) from notes")).to eq([["0"]])
      expect(in_fiber { AsyncRecord.gather(*Array.new(6) { -> { one } }) }).to eq([1] * 6)
    end

    it "repeats a statement that only reads, once" do
      reads = Array.new(3) { AsyncRecord.async { database.query(sleep_sql(1)) } }
      sleep 0.3
      server.restart
      results = AsyncRecord.gather(*reads, settle: true)
      expect(results).to all(be_an(Array).or(be_a(AsyncRecord::ConnectionError)))
      expect(answers_again?).to be(true)
    end

    it "says at once that nobody listens, and where" do
      one
      server.stop
      took = elapsed { expect { one }.to raise_error(AsyncRecord::ConnectionRefused, /127\.0\.0\.1:#{server.port}/) }
      expect(took).to be < relaxed(1.5)
      server.start
      expect(answers_again?).to be(true)
    end

    it "ends a transaction whose server died with an error, and keeps nothing of it" do
      database.execute("create table notes (body varchar(20))")
      expect do
        AsyncRecord.transaction(database: database) do |tx|
          tx.query("insert into notes values ('lost')")
          server.restart
          tx.query("insert into notes values ('never')")
        end
      end.to raise_error(AsyncRecord::ConnectionLost)
      expect(database.query("select * from notes")).to eq([])
    end

    it "gives up waiting for a server that is silent, and works when it speaks again" do
      one
      server.pause
      begin
        pending = AsyncRecord.async { one }.timeout(0.3)
        took = elapsed { expect { pending.await }.to raise_error(AsyncRecord::QueryTimeout) }
        expect(took).to be < relaxed(1)
      ensure
        server.resume
      end
      expect(answers_again?).to be(true)
    end

    it "runs twice as many slow queries as it has connections in two rounds, and the reactor goes on" do
      slow = fresh_database(size: 20)
      in_fiber { AsyncRecord.gather(*Array.new(20) { -> { slow.query("select 1") } }) }
      turns = 0
      took = in_fiber do
        timer = Fastr::PeriodicTimer.new(0.01) { turns += 1 }
        elapsed { AsyncRecord.gather(*Array.new(40) { -> { slow.query(sleep_sql(0.2)) } }) }.tap { timer.cancel }
      end
      expect(took).to be_between(0.39, 0.9)
      expect(turns).to be > 15
    end
  end
end
