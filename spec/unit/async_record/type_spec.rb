# frozen_string_literal: true

RSpec.describe "AsyncRecord::Type" do
  let(:type) { AsyncRecord.const_get(:Type) }

  {
    "INTEGER" => :integer, "bigint unsigned" => :integer, "VARCHAR(40)" => :string, "TEXT" => :string,
    "BOOLEAN" => :boolean, "tinyint(1)" => :boolean, "tinyint(4)" => :integer, "DECIMAL(10,2)" => :decimal,
    "NUMERIC" => :decimal, "FLOAT" => :float, "double precision" => :float, "REAL" => :float, "DATE" => :date,
    "DATETIME" => :datetime, "timestamp with time zone" => :datetime, "TIME" => :time, "JSON" => :json,
    "jsonb" => :json, "BLOB" => :blob, "bytea" => :blob, "uuid" => :string, "" => :any, nil => :any,
    "integer[]" => :array
  }.each do |declared, kind|
    it "reads #{declared.inspect} as #{kind}" do
      expect(type.for(declared)).to eq(kind)
    end
  end

  {
    Float::NAN => nil, -Float::INFINITY => nil, [1, Float::INFINITY] => [1, nil], (1...5) => "[1,5)",
    (..2.5) => "(,2.5]", (Date.new(2024, 1, 2)..) => "[2024-01-02,)",
    (-Float::INFINITY..Float::INFINITY) => "[-infinity,infinity]", BigDecimal("1.50") => "1.5", BigDecimal("2") => "2",
    Time.utc(2024) => "2024-01-01T00:00:00.000000Z", "\xff".b => "/w=="
  }.each do |value, shown|
    it "says #{value.inspect} in JSON as #{shown.inspect}" do
      expect(type.for_json(value)).to eq(shown)
    end
  end

  [
    [:integer, "42", 42], [:integer, "1 or 1=1", 1], [:integer, " -7", -7], [:integer, "", nil],
    [:integer, "abc", "abc"], [:integer, 4.9, 4], [:integer, true, 1], [:integer, Float::NAN, Float::NAN],
    [:string, :sym, "sym"], [:string, 12, "12"], [:boolean, "0", false], [:boolean, "true", true],
    [:boolean, "", nil], [:boolean, "maybe", "maybe"], [:float, "1.5x", 1.5], [:float, 2, 2.0],
    [:decimal, "12.50", BigDecimal("12.5")], [:decimal, 0.1, BigDecimal("0.1")], [:decimal, "x", "x"],
    [:date, "2024-02-29", Date.new(2024, 2, 29)], [:date, "nonsense", "nonsense"],
    [:date, Time.utc(2024, 1, 2), Date.new(2024, 1, 2)], [:datetime, "2024-02-29 10:00:00", Time.utc(2024, 2, 29, 10)],
    [:datetime, "2024-02-29T10:00:00+02:00", Time.utc(2024, 2, 29, 8)], [:datetime, "soon", "soon"],
    [:datetime, Date.new(2024, 1, 2), Time.utc(2024, 1, 2)], [:json, '{"a":1}', { "a" => 1 }],
    [:json, "plain", "plain"],
    [:json, [1], [1]], [:any, "x", "x"], [:integer, nil, nil]
  ].each do |kind, given, expected|
    it "casts #{given.inspect} to #{kind}" do
      result = type.cast(kind, given)
      expect(expected.respond_to?(:nan?) && expected.nan? ? result.nan? : result == expected).to be(true)
    end
  end
end
