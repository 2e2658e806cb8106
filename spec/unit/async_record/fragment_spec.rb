# frozen_string_literal: true

RSpec.describe "AsyncRecord::Fragment" do
  let(:fragment) { AsyncRecord.const_get(:Fragment) }
  let(:sqlite) { AsyncRecord::Dialect.for(:sqlite) }

  def pieces(text, dialect = sqlite)
    fragment.parse(text, dialect).pieces
  end

  it "finds positional and named placeholders" do
    expect(pieces("a > ? and b = :name")).to eq(["a > ", true, " and b = ", :name])
  end

  it "skips strings, with doubled quotes in them" do
    expect(pieces("a = 'it''s ? :x' and b = ?")).to eq(["a = 'it''s ? :x' and b = ", true])
  end

  it "skips quoted names" do
    expect(pieces('"a?" = ? and `b:c` = ?')).to eq(['"a?" = ', true, " and `b:c` = ", true])
  end

  it "drops comments, so that none swallows what follows" do
    expect(pieces("a = 1 -- why?\n and b = /* :x /* ? */ */ ?")).to eq(["a = 1  \n and b =   ", true])
    expect(pieces("a = 1 --")).to eq(["a = 1  "])
  end

  it "skips dollar quotes" do
    expect(pieces("a = $$?$$ and b = $x$ :y $x$ and c = ?")).to eq(["a = $$?$$ and b = $x$ :y $x$ and c = ", true])
  end

  it "reads ?? as a question mark" do
    expect(pieces("data ?? 'key' and a = ?")).to eq(["data ? 'key' and a = ", true])
  end

  it "tells a cast and a slice from a named placeholder" do
    expect(pieces("a::text = :a and b[1:n] = 2")).to eq(["a::text = ", :a, " and b[1:n] = 2"])
  end

  it "reads backslash escapes where the database does" do
    expect(pieces("a = 'it\\'s ?' and b = ?", AsyncRecord::Dialect.for(:mysql)))
      .to eq(["a = 'it\\'s ?' and b = ", true])
    expect(pieces("a = E'it\\'s ?' and b = ?")).to eq(["a = E'it\\'s ?' and b = ", true])
  end

  {
    "an unterminated string" => "a = 'x", "an unterminated name" => 'a = "x', "an unterminated comment" => "a /* x",
    "an unterminated dollar quote" => "a = $$ x", "a closing parenthesis too many" => "a = 1) or (1 = 1",
    "an opening parenthesis too many" => "(a = 1", "a second statement" => "1; drop table users"
  }.each do |what, text|
    it "refuses #{what}" do
      expect { pieces(text) }.to raise_error(AsyncRecord::FragmentError)
    end
  end

  it "allows a semicolon at the very end" do
    expect(pieces("a = ?; ")).to eq(["a = ", true])
  end

  it "reads the same text once" do
    expect(fragment.parse("a = ?", sqlite)).to be(fragment.parse(String.new("a = ?"), sqlite))
  end
end
