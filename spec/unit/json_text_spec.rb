# frozen_string_literal: true

RSpec.describe "JSON of values" do
  let(:writer) { Fastr.const_get(:JSONText) }

  it "is what JSON.generate gives" do
    [{ a: [1, nil, "ü\u2028"] }, [], "text", nil, 1.5, { "x" => { y: true } }].each do |value|
      expect(writer.generate(value)).to eq(JSON.generate(value))
    end
  end

  it "may be made while another is" do
    inner = writer
    value = Object.new.tap { |object| object.define_singleton_method(:to_json) { |*| inner.generate([[[1]]]) } }
    expect(writer.generate([{ a: value }, [2]])).to eq('[{"a":[[[1]]]},[2]]')
  end

  it "may be made by many threads at once" do
    threads = Array.new(8) { |number| Thread.new { Array.new(500) { writer.generate([[number, { a: [] }]]) }.uniq } }
    expect(threads.map(&:value)).to eq(Array.new(8) { |number| ["[[#{number},{\"a\":[]}]]"] })
  end

  it "counts its levels anew after one that failed" do
    deep = Array.new(99).inject([]) { |inner, _| [inner] }
    expect { writer.generate([deep]) }.to raise_error(JSON::NestingError)
    raising = Object.new.tap { |object| object.define_singleton_method(:to_json) { |*| raise "no" } }
    150.times { expect { writer.generate([[raising]]) }.to raise_error("no") }
    expect(writer.generate(deep)).to eq(("[" * 100) + ("]" * 100))
  end
end
