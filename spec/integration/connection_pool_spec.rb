# frozen_string_literal: true

require "fastr/synchrony"

RSpec.describe Fastr::Reactor::Synchrony::ConnectionPool do
  include Support::Dispatching

  # A connection that waits, and one call of which is asynchronous.
  let(:connection_class) do
    Class.new do
      attr_reader :number, :most

      def initialize(number)
        @number = number
        @users = @most = 0
      end

      def get(key, suffix: "")
        @most = [@most, @users += 1].max
        sleep 0.01
        @users -= 1
        "#{key}#{suffix}"
      end

      def all
        [1, 2]
      end

      def fail!
        raise ArgumentError, "bad"
      end

      def aget(deferrable)
        deferrable
      end
    end
  end
  let(:connections) { [] }
  let(:pool) do
    described_class.new(size: 2) { |number| connections[number] = connection_class.new(number) }
  end

  def at_once(count, &work)
    on_dispatcher { AsyncRecord.gather(*Array.new(count) { |index| -> { work.call(index) } }) }
  end

  it "gives each fiber a connection nobody else uses, and lets others wait in line" do
    expect(at_once(6) { |index| pool.get(index, suffix: "!") }).to eq(%w[0! 1! 2! 3! 4! 5!])
    expect(connections.map(&:most)).to eq([1, 1])
    expect(pool.pool_status).to eq({ available: 2, reserved: 0, pending: 0 })
  end

  it "gives a fiber the same connection inside its own block, and frees it once" do
    numbers = on_dispatcher do
      pool.execute(false) { |outer| [outer.number, pool.execute(false, &:number), pool.number] }
    end
    expect(numbers.uniq.size).to eq(1)
    expect(pool.pool_status).to eq({ available: 2, reserved: 0, pending: 0 })
  end

  it "frees the connection when the call raises" do
    expect { on_dispatcher { pool.fail! } }.to raise_error(ArgumentError, "bad")
    expect(pool.pool_status[:available]).to eq(2)
  end

  it "keeps the connection of an asynchronous call until that is settled" do
    first = Fastr::DefaultDeferrable.new
    second = Fastr::DefaultDeferrable.new
    on_dispatcher { [pool.aget(first), pool.aget(second)] }
    expect(pool.pool_status).to eq({ available: 0, reserved: 2, pending: 0 })
    on_dispatcher { first.succeed && second.fail }
    expect(pool.pool_status).to eq({ available: 2, reserved: 0, pending: 0 })
  end

  it "frees the connection of a call that only sounds asynchronous" do
    expect(on_dispatcher { pool.all }).to eq([1, 2])
    expect(pool.pool_status[:available]).to eq(2)
  end

  it "takes one who gave up out of the line" do
    on_dispatcher do
      2.times { pool.aget(Fastr::DefaultDeferrable.new) }
      expect { Timeout.timeout(0.02) { pool.get(1) } }.to raise_error(Timeout::Error)
    end
    expect(pool.pool_status).to eq({ available: 0, reserved: 2, pending: 0 })
  end
end
