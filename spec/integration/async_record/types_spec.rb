# frozen_string_literal: true

# What goes into a column comes out of it, for every type a migration can name, by every way of reading.
RSpec.describe "Types" do
  values = {
    whole: [0, -1, (2**63) - 1, -(2**63)],
    big: [2**40],
    ratio: [0.0, -1.5, 1e300, 0.1],
    amount: [BigDecimal("0"), BigDecimal("12345.6789"), BigDecimal("-0.01")],
    flag: [true, false],
    day: [Date.new(2024, 2, 29), Date.new(1969, 12, 31), Date.new(9999, 12, 31)],
    moment: [Time.utc(2024, 2, 29, 23, 59, 59, 123_456), Time.utc(1969, 12, 31, 23, 59, 59), Time.utc(1, 1, 1)],
    clock: ["12:30:00"],
    word: ["", "ann", "grün 🙂", "it's \"quoted\" \\ % _ ? :x", "2024-01-01"],
    story: ["x" * 100_000],
    document: [{ "a" => [1, 2.5, nil, true, { "b" => "ü" }] }, [], [1], {}],
    bytes: ["\x00\xFF\x80bytes".b, "".b]
  }.freeze

  each_database do
    before do
      database.query(<<~SQL)
        create table samples (id #{column(:id)}, whole #{column(:integer)}, big bigint, ratio #{column(:float)},
          amount decimal(20, 4), flag #{column(:boolean)}, day date, moment #{column(:time)}, clock time,
          word varchar(40), story #{column(:text)}, document #{column(:json)}, bytes #{column(:binary)})
      SQL
      model("Sample", database)
    end

    values.each do |column, samples|
      samples.each do |value|
        shown = value.inspect[0, 40]

        it "keeps #{shown} in #{column}" do
          id = Sample.create!(column => value).id
          found = Sample.find(id)
          expect(found[column]).to eq(value)
          expect(found[column].class).to eq(value.class)
          expect(Sample.where(id: id).pick(column)).to eq(value)
          next if column == :document && kind == :mysql # MariaDB's JSON is text, of which only the schema knows more

          expect(database.query("select #{column} from samples where id = ?", id)).to eq([{ column.to_s => value }])
        end

        next if column == :document || value.nil?

        it "finds #{shown} in #{column} by value" do
          id = Sample.create!(column => value).id
          expect(Sample.where(column => value).ids).to eq([id])
          expect(Sample.find_by(column => [value]).id).to eq(id)
        end
      end

      it "keeps NULL in #{column}" do
        Sample.create!(column => nil)
        expect(Sample.where(column => nil).first[column]).to be_nil
      end
    end

    it "gives a new record the same values as the stored one" do
      given = { whole: "7", ratio: "1.5", amount: "2.50", flag: "1", day: "2024-02-29", moment: "2024-02-29 10:00:00",
                word: :sym, document: '{"a":1}' }
      created = Sample.create!(given)
      expect(created.attributes).to eq(Sample.find(created.id).attributes)
      expect([created.whole, created.amount, created.flag, created.day, created.word])
        .to eq([7, BigDecimal("2.5"), true, Date.new(2024, 2, 29), "sym"])
    end

    it "stores times in UTC whatever zone they come in" do
      time = Time.new(2024, 2, 29, 1, 0, 0, "+02:00")
      found = Sample.find(Sample.create!(moment: time).id)
      expect([found.moment, found.moment.utc?]).to eq([time, true])
      expect(witness("select moment from samples").first.first[0, 19]).to eq("2024-02-28 23:00:00")
    end

    it "compares times and dates by their order" do
      Sample.create!(moment: Time.utc(2024, 1, 1), day: Date.new(2024, 1, 1))
      Sample.create!(moment: Time.utc(2024, 6, 1), day: Date.new(2024, 6, 1))
      expect(Sample.where(moment: Time.utc(2024, 3)..).count).to eq(1)
      expect(Sample.where(day: ...Date.new(2024, 6, 1)).count).to eq(1)
      expect(Sample.maximum(:moment)).to eq(Time.utc(2024, 6, 1))
      expect(Sample.minimum(:day)).to eq(Date.new(2024, 1, 1))
    end

    it "refuses to store a number that no column can hold" do
      refusal = kind == :sqlite ? RangeError : AsyncRecord::QueryError
      expect { Sample.create!(whole: 10**30) }.to raise_error(refusal)
    end

    it "refuses text that is not valid" do
      expect { Sample.create!(word: "a\xFF") }.to raise_error(AsyncRecord::InvalidText, /not valid UTF-8/)
    end

    it "reads values as JSON made in Rust" do
      Sample.create!(whole: 1, amount: "1.5", flag: true, moment: Time.utc(2024, 2, 29), document: { a: 1 }, word: "\"")
      json = JSON.parse(Sample.select(:whole, :amount, :flag, :moment, :document, :word, :story).to_json_bytes)
      expect(json).to eq([{ "whole" => 1, "amount" => "1.5", "flag" => true, "moment" => "2024-02-29T00:00:00.000000Z",
                            "document" => { "a" => 1 }, "word" => "\"", "story" => nil }])
      expect(JSON.parse(JSON.generate(Sample.select(:whole)))).to eq([{ "whole" => 1 }])
    end

    it "writes one record's JSON as it writes a relation's" do
      values = { whole: 1, ratio: 1.5, amount: "12.5", flag: true, day: Date.new(2024, 2, 29), word: "ü",
                 clock: "12:30:00", moment: Time.utc(2024, 2, 29, 1, 2, 3, 4), document: { a: [1] }, bytes: "\xFFa".b }
      Sample.create!(values)
      Sample.create!(amount: 3, moment: Time.utc(2024))
      json = JSON.generate(Sample.order(:id).to_a)
      # PostgreSQL writes a document's blanks in its own way.
      expect(Sample.order(:id).to_json_bytes.sub('{"a": [1]}', '{"a":[1]}')).to eq(json)
    end

    it "applies the kind of a column to aggregates" do
      [1, 2].each { |number| Sample.create!(amount: number, whole: number, flag: true) }
      expect([Sample.sum(:amount), Sample.sum(:whole), Sample.average(:whole), Sample.maximum(:amount)])
        .to eq([BigDecimal(3), 3, 1.5, BigDecimal(2)])
    end

    it "returns cast values from inserts" do
      skip "MySQL has no RETURNING" unless returning?

      expect(Sample.insert_all!([{ moment: Time.utc(2024), flag: true }], returning: %i[id moment flag]))
        .to eq([[1, Time.utc(2024), true]])
    end
  end

  each_database(:postgresql) do
    it "lets every row lie on its side of a number that its column cannot hold" do
      database.query("create table samples (id #{column(:id)}, whole integer, tiny smallint)")
      model("Sample", database)
      Sample.create!([{ whole: 1, tiny: 1 }, { whole: nil, tiny: nil }])
      huge = 3_000_000_000
      expect([Sample.where(whole: huge).count, Sample.where(whole: [1, huge]).count, Sample.where(tiny: 40_000).count,
              Sample.where.not(whole: huge).count]).to eq([0, 1, 0, 2])
      counts = [..huge, -huge..huge, huge.., -huge..].map { |range| Sample.where(whole: range).count }
      expect(counts).to eq([1, 1, 0, 1])
    end
  end

  each_database do
    before do
      database.query("create table samples (id #{column(:id)}, whole #{column(:integer)})")
      model("Sample", database)
    end

    it "finds nothing by a number that no column can hold" do
      Sample.create!(whole: 1)
      expect([Sample.find_by(whole: 10**30), Sample.where(whole: (10**30)..).count]).to eq([nil, 0])
      expect { Sample.find(10**30) }.to raise_error(AsyncRecord::RecordNotFound)
      expect { Sample.find("9" * 40) }.to raise_error(AsyncRecord::RecordNotFound)
    end
  end

  each_database(:mysql) do
    it "finds the largest numbers without a sign, and not their neighbours" do
      database.query("create table samples (id bigint unsigned primary key)")
      model("Sample", database)
      largest = (2**64) - 1
      Sample.insert_all!([{ id: largest }, { id: largest - 1 }])
      expect([Sample.find(largest).id, Sample.where(id: largest - 1).ids, Sample.where(id: [largest, 1]).ids])
        .to eq([largest, [largest - 1], [largest]])
      expect([Sample.where(id: largest..).count, Sample.find_by(id: largest + 1)]).to eq([1, nil])
    end
  end

  each_database(:sqlite) do
    before do
      database.query("create table samples (id integer primary key, whole integer, amount decimal(20, 4), " \
                     "flag boolean, day date, moment datetime, word text, document json, loose)")
      model("Sample", database)
    end

    it "never raises for what a column should not hold" do
      database.query("insert into samples (flag, day, moment, document, amount, whole) " \
                     "values ('yes', 'x', 'y', '{', 'z', 'w')")
      expect(Sample.first.attributes.values_at("flag", "day", "moment", "document", "amount", "whole"))
        .to eq(["yes", "x", "y", "{", "z", "w"])
    end

    it "keeps whatever it is in a column without a type, and NUL in text" do
      [1, 1.5, "text", "nul\0byte", nil].each do |value|
        found = Sample.find(Sample.create!(loose: value, word: value&.to_s).id)
        expect([found.loose, found.word]).to eq([value, value&.to_s])
      end
    end
  end

  each_database(:postgresql) do
    it "says that text cannot hold NUL" do
      database.query("create table samples (id #{column(:id)}, word text)")
      model("Sample", database)
      expect { Sample.create!(word: "nul\0byte") }.to raise_error(AsyncRecord::QueryError, /NUL/i)
    end
  end
end
