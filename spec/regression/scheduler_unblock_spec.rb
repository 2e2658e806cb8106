# frozen_string_literal: true

# Seen on Ruby 3.3: a stream is closed while another thread still writes to it; the IOError for that thread was raised
# inside Scheduler#unblock, and the fiber that waited for the stream to be closed never went on.
RSpec.describe Fastr::Scheduler do
  it "wakes a fiber although an exception strikes the waking thread meanwhile, and passes that on" do
    woken = []
    dispatcher = Object.new
    dispatcher.define_singleton_method(:next_tick) do |wake, _request|
      woken << wake
      raise IOError, "stream closed in another thread" if woken.size == 1
    end
    expect { described_class.new(dispatcher).unblock(nil, Fiber.current) }.to raise_error(IOError)
    expect(woken.size).to eq(2)
  end
end
