# frozen_string_literal: true

# What happens when the client leaves while its request's fiber waits for the database.
RSpec.describe AsyncRecord::Transaction, "interrupted" do
  # A pool in which everything takes its time.
  let(:pool) do
    Class.new do
      attr_reader :log

      def initialize
        @log = Thread::Queue.new
      end

      %i[begin query commit rollback].each do |name|
        define_method(name) do |sink, *|
          log << name
          Fastr::Native.timer(sink, 0.05)
        end
      end
    end.new
  end
  let(:database) do
    pool = self.pool
    AsyncRecord::Database.new("sqlite::memory:").tap do |database|
      database.define_singleton_method(:pool) { pool }
    end
  end

  # Runs a transaction in a fiber and interrupts it once the pool was asked for something.
  def interrupted_at(moment)
    fiber = nil
    seen = []
    work = AsyncRecord.async do
      fiber = Fiber.current
      AsyncRecord.transaction(database: database) do |tx|
        tx.after_commit { seen << :committed }
        tx.after_rollback { seen << :rolled_back }
        database.await("select 1")
      end
    end
    steps = [pool.log.pop]
    steps << pool.log.pop until steps.last == moment
    Fastr::Dispatcher.next_tick { Fastr::Dispatcher.instance.resume(fiber, Fastr::DisconnectedError.new("left")) }
    expect { work.await }.to raise_error(Fastr::DisconnectedError)
    seen
  end

  it "is rolled back when a statement of it is" do
    expect(interrupted_at(:query)).to eq([:rolled_back])
    expect(pool.log.pop).to eq(:rollback)
  end

  it "is committed all the same when its commit is under way, and its hooks run" do
    expect(interrupted_at(:commit)).to eq([:committed])
    expect(pool.log).to be_empty
  end

  it "is not begun, or rolled back at once, when its beginning is" do
    expect(interrupted_at(:begin)).to eq([])
    expect(pool.log.size).to eq(0)
  end
end
