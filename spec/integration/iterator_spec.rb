# frozen_string_literal: true

require "fastr/synchrony"

RSpec.describe Fastr::Iterator do
  include Support::Dispatching

  def later(seconds = 0.005, &block)
    Fastr::Reactor.add_timer(seconds, &block)
  end

  before { Fastr::Dispatcher.instance.ensure_running }

  it "calls the block with every item and then the end" do
    seen = []
    called_back { |done| described_class.new(1..3).each(proc { |item, turn| (seen << item) && turn.next }, done) }
    expect(seen).to eq([1, 2, 3])
  end

  it "works on as many items at once as it is told" do
    running = 0
    most = 0
    called_back do |done|
      described_class.new(1..10, 3).each(lambda { |_item, turn|
        most = [most, running += 1].max
        later do
          running -= 1
          turn.next
        end
      }, done)
    end
    expect(most).to eq(3)
  end

  it "gives values in the order of the items" do
    values = called_back do |done|
      described_class.new([3, 1, 2], 3).map(proc { |item, turn| later(item * 0.005) { turn.return(item * 10) } }, done)
    end
    expect(values).to eq([30, 10, 20])
  end

  it "hands a value from item to item" do
    sum = called_back do |done|
      described_class.new(1..4).inject(0, proc { |memo, item, turn| later { turn.return(memo + item) } }, done)
    end
    expect(sum).to eq(10)
  end

  it "ends at once for an empty list" do
    expect(called_back { |done| described_class.new([]).map(proc { nil }, done) }).to eq([])
  end

  it "takes items from a proc until it gives nil" do
    items = [1, 2, nil, 3]
    values = called_back do |done|
      described_class.new(-> { items.shift }, 2).map(proc { |item, turn| turn.return(item) }, done)
    end
    expect(values).to eq([1, 2])
  end

  it "does not grow the stack with items that are done at once" do
    count = 0
    called_back(limit: 20) do |done|
      described_class.new(1..20_000, 2).each(proc { |_item, turn| (count += 1) && turn.next }, done)
    end
    expect(count).to eq(20_000)
  end

  it "refuses a second answer for one item" do
    error = called_back do |done|
      described_class.new([1]).each do |_item, turn|
        turn.next
        turn.next
      rescue Fastr::ReactorError => e
        done.call(e.message)
      end
    end
    expect(error).to match(/done already/)
  end

  it "refuses what is no list, no concurrency, and a second run" do
    expect { described_class.new(nil, 0) }.to raise_error(ArgumentError, /greater than zero/)
    expect { described_class.new(5) }.to raise_error(ArgumentError, /give a list/)
    iterator = described_class.new([])
    iterator.each(proc {})
    expect { iterator.each(proc {}) }.to raise_error(Fastr::ReactorError, /ran already/)
  end

  describe Fastr::Reactor::Synchrony::Iterator do
    it "waits and returns the values" do
      values = on_dispatcher do
        described_class.new([1, 2, 3], 2).map { |item, turn| later { turn.return(item * 2) } }
      end
      expect(values).to eq([2, 4, 6])
    end

    it "waits and returns the last value" do
      sum = on_dispatcher do
        described_class.new([1, 2]).inject(10) { |memo, item, turn| later { turn.return(memo + item) } }
      end
      expect(sum).to eq(13)
    end

    it "raises at the caller what a block raises, and takes no further item" do
      seen = []
      expect do
        on_dispatcher do
          described_class.new(1..5).each do |item, turn|
            seen << item
            raise ArgumentError, "bad" if item == 2

            turn.next
          end
        end
      end.to raise_error(ArgumentError, "bad")
      expect(seen).to eq([1, 2])
    end
  end

  describe Fastr::Reactor::Synchrony::FiberIterator do
    it "runs waiting code, so many items at once" do
      took = elapsed { on_dispatcher { described_class.new(1..10, 5).each { sleep 0.05 } } }
      expect(took).to be_between(0.09, relaxed(0.4))
    end

    it "takes what the block returns as the item's value" do
      values = on_dispatcher { described_class.new([2, 1], 2).map { |item| (sleep item * 0.01) && (item * 2) } }
      sum = on_dispatcher { described_class.new(1..3).inject(0) { |memo, item| (sleep 0.001) && (memo + item) } }
      expect([values, sum]).to eq([[4, 2], 6])
    end

    it "raises at the caller what a block raises after it waited" do
      expect { on_dispatcher { described_class.new([1]).each { (sleep 0.001) && raise("bad") } } }.to raise_error("bad")
    end
  end
end
