# frozen_string_literal: true

RSpec.describe Fastr::Deferrable, limit: ENV["FASTR_GC"] ? 300 : 20 do
  include Support::Dispatching

  let(:deferrable) { Fastr::DefaultDeferrable.new }
  let(:seen) { [] }

  it "calls callbacks in the order they were added, and late ones at once" do
    2.times { |number| deferrable.callback { |*values| seen << [number, values] } }
    deferrable.errback { seen << :error }
    deferrable.succeed(1, 2)
    deferrable.callback { |*values| seen << [:late, values] }
    expect(seen).to eq([[0, [1, 2]], [1, [1, 2]], [:late, [1, 2]]])
  end

  it "calls errbacks when it fails" do
    deferrable.callback { seen << :callback }.errback { |reason| seen << reason }
    deferrable.fail(:reason)
    deferrable.errback { |reason| seen << [:late, reason] }
    expect(seen).to eq([:reason, %i[late reason]])
  end

  it "forgets its callbacks once they were called" do
    deferrable.callback { seen << 1 }
    deferrable.succeed.succeed
    expect(seen).to eq([1])
  end

  it "is pending again after the status :unknown" do
    deferrable.succeed
    deferrable.set_deferred_status(:unknown)
    deferrable.callback { |value| seen << value }
    expect(seen).to be_empty
    deferrable.succeed(2)
    expect(seen).to eq([2])
  end

  it "keeps the callbacks behind one that makes it pending again" do
    deferrable.callback { deferrable.set_deferred_status(:unknown) }.callback { seen << :later }
    deferrable.succeed
    expect(seen).to be_empty
    deferrable.succeed
    expect(seen).to eq([:later])
  end

  it "goes on with errbacks when a callback makes it fail" do
    deferrable.callback { deferrable.fail(:changed) }.callback { seen << :callback }.errback { |reason| seen << reason }
    deferrable.succeed
    expect(seen).to eq([:changed])
  end

  it "calls the callbacks behind one that raises, then raises its error" do
    deferrable.callback { raise IOError }.callback { seen << 1 }
    expect { deferrable.succeed }.to raise_error(IOError)
    expect(seen).to eq([1])
  end

  it "does not call what was taken back" do
    taken = proc { seen << :taken }
    deferrable.callback(&taken).callback { seen << :kept }
    deferrable.cancel_callback(taken)
    deferrable.succeed
    expect(seen).to eq([:kept])
  end

  it "fails at its time limit, unless something happened before" do
    results = Thread::Queue.new
    on_dispatcher do
      Fastr::DefaultDeferrable.new.errback { |*values| results << values }.timeout(0.01, :late)
      Fastr::DefaultDeferrable.new.errback { results << :wrong }.timeout(0.01).succeed
      Fastr::DefaultDeferrable.new.errback { results << :wrong }.timeout(0.01).cancel_timeout
      sleep 0.03
    end
    expect([results.pop, results.size]).to eq([[:late], 0])
  end

  it "calls its blocks on the dispatcher when another thread makes it succeed" do
    threads = Thread::Queue.new
    deferrable.callback { threads << Thread.current }
    reactor = Thread.new { Fastr::Reactor.run { threads << :ready } }
    threads.pop
    deferrable.succeed
    expect(threads.pop).to equal(reactor)
  ensure
    Fastr::Reactor.stop
    reactor.join
  end
end
