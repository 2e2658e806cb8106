# frozen_string_literal: true

# Threads and fibers that are interrupted at any moment: whatever they held is given back at once.
RSpec.describe AsyncRecord, "interrupted at any moment", limit: 60 do
  each_database do
    let(:database) { fresh_database(size: 2, pool_timeout: 20) }

    before { database.query("select 1") }

    def interrupt_often(&work)
      interrupted = Array.new(4) { Thread.new { Array.new(60) { interrupt(&work) }.count(:late) } }.sum(&:value)
      expect(interrupted).to be_positive
      eventually { database.stats.values_at(:busy, :waiting) == [0, 0] }
    end

    def interrupt(&work)
      Timeout.timeout(0.0005 + (rand * 0.01), &work)
    rescue Timeout::Error
      :late
    end

    it "leaves no transaction open" do
      interrupt_often do
        AsyncRecord.transaction(database: database) { |tx| 3.times { tx.query("select 1") } }
      end
      expect(AsyncRecord.transaction(database: database) { |tx| tx.query("select 1 as one") }).to eq([{ "one" => 1 }])
    end

    it "leaves no stream open" do
      database.execute("create table numbers (n #{column(:integer)})")
      database.execute("insert into numbers values #{Array.new(500) { |number| "(#{number})" }.join(",")}")
      interrupt_often { database.stream("select a.n from numbers a, numbers b", batch: 100) { |_| nil } }
      expect(database.query("select 1 as one")).to eq([{ "one" => 1 }])
    end
  end
end
