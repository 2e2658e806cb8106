# frozen_string_literal: true

# What the program sees of notifications; that they arrive is shown with a real server.
RSpec.describe AsyncRecord::Listener do
  # A subscription as the native driver gives it, fed by hand.
  let(:subscription) do
    Class.new do
      attr_reader :feed

      def initialize
        @feed = Thread::Queue.new
      end

      def next(sink)
        event = feed.pop
        sink << event
      end

      def close
        feed << nil
      end
    end.new
  end
  let(:database) { FakeDatabase.new("postgres://localhost/x") }
  let(:heard) { Thread::Queue.new }

  before do
    subscription = self.subscription
    told = @told = []
    database.pool.define_singleton_method(:listen) do |sink, channels|
      told << channels
      sink << subscription
    end
  end

  def listen(*channels, &block)
    @listener = AsyncRecord.listen(*channels, database: database, &block || ->(*event) { heard << event })
  end

  def hear
    Timeout.timeout(5) { heard.pop }
  end

  after { @listener&.stop }

  it "hears what is sent on its channels, in order" do
    listen("jobs", :mails).wait
    subscription.feed << %w[jobs 1] << %w[mails 2]
    expect([hear, hear, @told]).to eq([%w[jobs 1], %w[mails 2], [%w[jobs mails]]])
  end

  it "calls on the dispatcher, in a fiber that may wait" do
    listen("jobs") do
      sleep(0.001)
      heard << Fastr::Dispatcher.on_dispatcher?
    end
    subscription.feed << %w[jobs 1]
    expect(hear).to be(true)
  end

  it "says when its connection was lost and is there again" do
    listen("jobs").on_reconnected { heard << :again }
    subscription.feed << :reconnected << %w[jobs 1]
    expect([hear, hear]).to eq([:again, %w[jobs 1]])
  end

  it "goes on after its block has raised, and the error is told" do
    listen("jobs") { |_, payload| payload == "bad" ? raise("bad job") : heard << payload }
      .on_error { |error| heard << error.message }
    subscription.feed << %w[jobs bad] << %w[jobs good]
    expect([hear, hear]).to eq(["bad job", "good"])
  end

  it "tells an error without a path to AsyncRecord.on_error" do
    AsyncRecord.on_error { |error| heard << error.message }
    listen("jobs") { raise "bad job" }
    subscription.feed << %w[jobs 1]
    expect(hear).to eq("bad job")
  ensure
    AsyncRecord.on_error
  end

  it "ends when it is told to" do
    listener = listen("jobs").wait
    expect(listener.listening?).to be(true)
    listener.stop
    eventually { !listener.listening? }
    subscription.feed << %w[jobs 1]
    expect(heard).to be_empty
  end

  it "tells who waits for it that it could not begin" do
    database.pool.define_singleton_method(:listen) { |sink, _| sink << AsyncRecord::ConnectionRefused.new("refused") }
    errors = Thread::Queue.new
    AsyncRecord.on_error { |error| errors << error }
    expect { listen("jobs").wait }.to raise_error(AsyncRecord::ConnectionRefused)
    expect(errors.pop).to be_a(AsyncRecord::ConnectionRefused)
  ensure
    AsyncRecord.on_error
  end

  it "sends notifications as a statement" do
    AsyncRecord.notify("jobs", 12, database: database)
    expect(called_back { |done| AsyncRecord.notify(:jobs, database: database) { |*got| done.call(got) } }).to eq([nil])
    expect(database.statements).to eq([["SELECT pg_notify($1, $2)", %w[jobs 12]],
                                       ["SELECT pg_notify($1, $2)", ["jobs", ""]]])
  end

  it "refuses databases that have nothing like it, and says what else there is" do
    sqlite = FakeDatabase.new
    expect { AsyncRecord.listen("jobs", database: sqlite) { nil } }
      .to raise_error(AsyncRecord::NotSupported, /only PostgreSQL.*Channel/)
    expect { AsyncRecord.notify("jobs", "x", database: sqlite) }.to raise_error(AsyncRecord::NotSupported)
  end

  it "refuses to listen for nothing" do
    expect { listen { nil } }.to raise_error(ArgumentError, /channel/)
    expect { AsyncRecord.listen("jobs", database: database) }.to raise_error(ArgumentError, /block/)
  end
end
