# frozen_string_literal: true

RSpec.describe AsyncRecord::Asker do
  def called
    [1].map { described_class.here }.first
  end

  it "says file, line and method of whoever runs, from the innermost frame on" do
    path, line, name = called.frames.first
    expect([path, line, name]).to match([__FILE__, 5, /called/])
    expect(called.frames.map { |frame| frame[1] }).to all(be_positive)
    expect(called.frames.map(&:first)).to include(__FILE__, end_with("rspec/core/example.rb"))
  end

  it "keeps what it shows, whatever becomes of the code" do
    askers = Array.new(50) do |number|
      mod = Module.new
      # rubocop:disable Style/EvalWithLocation -- a file that nobody but the asker knows
      mod.module_eval("def self.asked_#{number} = AsyncRecord::Asker.here", "made_at_run_time_#{number}.rb", 7)
      # rubocop:enable Style/EvalWithLocation
      mod.public_send(:"asked_#{number}")
    end
    GC.start
    Array.new(1000) { |number| Module.new { define_method(:"other_#{number}") { number } } }
    GC.compact if GC.respond_to?(:compact)
    askers.each_with_index do |asker, number|
      expect(asker.frames.first).to match(["made_at_run_time_#{number}.rb", 7, /asked_#{number}\z/])
    end
  end

  it "keeps a bounded number of frames" do
    deep = ->(depth) { depth.zero? ? described_class.here : deep.call(depth - 1) }
    expect(deep.call(100).frames.size).to be_between(8, 16)
  end
end
