# frozen_string_literal: true

RSpec.describe "Deferred operations" do
  include Support::Dispatching

  it "hand each result to its own callback" do
    results = on_dispatcher do
      done = Thread::Queue.new
      200.times { |number| Fastr::Reactor.defer(proc { number }, proc { |value| done << [number, value] }) }
      Array.new(200) { done.pop }
    end
    expect(results.sort).to eq(Array.new(200) { |number| [number, number] })
  end

  it "hand each error to its own errback" do
    results = on_dispatcher do
      done = Thread::Queue.new
      50.times do |number|
        Fastr::Reactor.defer(proc { raise number.to_s }, nil, proc { |error| done << [number, error.message] })
      end
      Array.new(50) { done.pop }
    end
    expect(results.sort).to eq(Array.new(50) { |number| [number, number.to_s] })
  end
end
