# frozen_string_literal: true

RSpec.describe Fastr::Channel, limit: ENV["FASTR_GC"] ? 300 : 20 do
  include Support::Dispatching

  let(:channel) { described_class.new }

  before { on_dispatcher { nil } }

  it "delivers before push returns when pushed on the dispatcher" do
    seen = []
    channel.subscribe { |message| seen << message }
    expect(on_dispatcher { channel.push(1, 2) && seen.dup }).to eq([1, 2])
  end

  it "delivers everything of eight threads, each in order, while others subscribe and unsubscribe" do
    seen = Thread::Queue.new
    channel.subscribe { |message| seen << message }
    churning = true
    churn = Array.new(2) { Thread.new { channel.unsubscribe(channel.subscribe { |_| nil }) while churning } }
    pushers = Array.new(8) { |thread| Thread.new { 500.times { |number| channel << [thread, number] } } }
    pushers.each(&:join)
    messages = Array.new(4_000) { seen.pop }
    churning = false
    churn.each(&:join)
    expect(messages.group_by(&:first).transform_values { |list| list.map(&:last) })
      .to eq((0...8).to_h { |thread| [thread, (0...500).to_a] })
    expect(channel.num_subscribers).to eq(1)
  end

  # @return [Integer, nil] how many are subscribed when another thread came in at that call; nil if there is none
  def subscribed_amid(number)
    channel = described_class.new
    calls = 0
    trace = TracePoint.new(:c_return) do |event|
      # Operators on Integers are calls only while they are traced.
      next if !event.path.end_with?("/fastr/channel.rb") || %i[+ ==].include?(event.method_id)

      Thread.new { channel.subscribe { |_| nil } }.join if (calls += 1) == number
    end
    trace.enable(target_thread: Thread.current) { channel.subscribe { |_| nil } }
    channel.num_subscribers if calls >= number
  end

  it "loses no subscriber, whichever call another thread's comes in at" do
    seen = (1..).lazy.map { |number| subscribed_amid(number) }.take_while(&:itself).to_a
    expect(seen.size).to be > 4
    expect(seen.uniq).to eq([2])
  end

  it "keeps the order of messages pushed elsewhere and on the dispatcher" do
    seen = []
    channel.subscribe { |message| seen << message }
    on_dispatcher do
      Thread.new { channel << 1 }.tap { |thread| Thread.pass while thread.alive? }
      channel << 2
      sleep 0.005
    end
    expect(seen).to eq([1, 2])
  end

  it "delivers what one message began to those who were subscribed then" do
    seen = []
    on_dispatcher do
      ids = []
      ids << channel.subscribe { |message| seen << [:first, message] && channel.unsubscribe(ids[1]) }
      ids << channel.subscribe { |message| seen << [:second, message] }
      channel.push(1)
      channel.push(2)
    end
    expect(seen).to eq([[:first, 1], [:second, 1], [:first, 2]])
  end

  it "pops one message" do
    seen = []
    on_dispatcher do
      channel.pop { |message| seen << message }
      channel.push(1, 2)
    end
    expect([seen, channel.num_subscribers]).to eq([[1], 0])
  end

  it "gives every subscriber every message though one of them raises" do
    errors = Thread::Queue.new
    Fastr::Dispatcher.instance.error_handler = ->(error) { errors << error.message }
    seen = []
    channel.subscribe { |message| raise message.to_s }
    channel.subscribe { |message| seen << message }
    channel.push(1, 2)
    expect(Array.new(2) { errors.pop }).to eq(%w[1 2])
    expect(seen).to eq([1, 2])
  ensure
    Fastr::Dispatcher.instance.error_handler = nil
  end

  it "blames the request that subscribed for its error, not the one that pushed" do
    port = serve do |request|
      if request.path == "/subscribe"
        channel.subscribe { raise "my fault" }
        channel.subscribe { request.respond(200, Support::Dispatching::TEXT, "told") unless request.answered? }
      else
        channel.push(1)
        request.respond(200, Support::Dispatching::TEXT, "pushed")
      end
    end
    waiting = Thread.new { http(port, "/subscribe") }
    eventually { channel.num_subscribers == 2 }
    expect(http(port, "/push").body).to eq("pushed")
    expect(waiting.value.body).to eq("told")
    eventually { handler.failures.map(&:message) == ["my fault"] }
  end
end
