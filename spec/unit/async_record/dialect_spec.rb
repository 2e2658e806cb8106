# frozen_string_literal: true

require "async_record/migration"

RSpec.describe AsyncRecord::Dialect do
  subject(:dialect) { described_class.for(name) }

  [
    { name: :sqlite, quote: '"', longest: 255 },
    { name: :postgresql, quote: '"', longest: 63 },
    { name: :mysql, quote: "`", longest: 64 }
  ].each do |facts|
    describe "of #{facts[:name]}" do
      let(:name) { facts[:name] }
      let(:mark) { facts[:quote] }

      it "quotes names by doubling the quote character" do
        expect(dialect.quote("na#{mark}me")).to eq("#{mark}na#{mark}#{mark}me#{mark}")
      end

      it "quotes a Symbol like a String" do
        expect(dialect.quote(:users)).to eq(dialect.quote("users"))
      end

      it "keeps words of other scripts" do
        expect(dialect.quote("größe")).to eq("#{mark}größe#{mark}")
      end

      it "refuses a name with a NUL byte" do
        expect { dialect.quote("a\0b") }.to raise_error(AsyncRecord::InvalidIdentifier, /NUL/)
      end

      it "refuses an empty name" do
        expect { dialect.quote("") }.to raise_error(AsyncRecord::InvalidIdentifier, /empty/)
      end

      it "refuses text that is not valid" do
        expect { dialect.quote("a\xFF") }.to raise_error(AsyncRecord::InvalidIdentifier, /valid/)
      end

      it "takes a name of #{facts[:longest]} bytes and no longer one" do
        expect(dialect.quote("n" * facts[:longest]).size).to eq(facts[:longest] + 2)
        expect { dialect.quote("n" * (facts[:longest] + 1)) }.to raise_error(AsyncRecord::InvalidIdentifier, /at most/)
      end

      it "does not grow its cache of names without end" do
        10_000.times { |index| dialect.quote("name#{index}") }
        expect(dialect.instance_variable_get(:@quoted).size).to be <= 4096
      end

      it "refuses to bind what no column can hold" do
        expect { dialect.bind(Object.new) }.to raise_error(ArgumentError, /cannot bind a Object/)
      end

      it "binds scalars as they are and documents as JSON" do
        expect([1, 1.5, "x", nil, true, :sym, { a: [1] }].map { |value| dialect.bind(value) })
          .to eq([1, 1.5, "x", nil, true, "sym", '{"a":[1]}'])
      end

      it "has a type for every word of a migration, or names one to take instead" do
        types = AsyncRecord::Migration.module_eval("ColumnType", __FILE__, __LINE__)
        answers = types::WORDS.map do |word|
          types.sql(word, { values: %w[a b], enum_type: "mood" }, dialect)
        rescue AsyncRecord::MigrationError => e
          e.message[/the nearest that works there is \S.*/]
        end
        expect(answers).to all(be_a(String))
      end
    end
  end

  describe "where they differ" do
    let(:sqlite) { described_class.for(:sqlite) }
    let(:postgresql) { described_class.for(:postgresql) }
    let(:mysql) { described_class.for(:mysql) }

    it "numbers placeholders on PostgreSQL only" do
      expect([sqlite, postgresql, mysql].map { |one| one.placeholder(3) }).to eq(%w[? $3 ?])
    end

    it "pads lists to powers of two, except where a list is one bind" do
      expect(sqlite.pad([1, 2, 3])).to eq([1, 2, 3, 3])
      expect(mysql.pad([1, 2, 3, 4, 5])).to eq([1, 2, 3, 4, 5, 5, 5, 5])
      expect(postgresql.pad([1, 2, 3])).to eq([1, 2, 3])
    end

    it "does not pad beyond the binds a statement may have" do
      expect(sqlite.pad(Array.new(20_000, 1)).size).to eq(20_000)
    end

    it "writes an offset without a limit" do
      expect([sqlite, postgresql, mysql].map { |one| one.limit_clause(nil, "?") })
        .to eq([" LIMIT -1 OFFSET ?", " OFFSET ?", " LIMIT 18446744073709551615 OFFSET ?"])
    end

    it "places NULLs" do
      expect(sqlite.order_term("a", :desc, :last)).to eq("a DESC NULLS LAST")
      expect(mysql.order_term("a", :desc, :last)).to eq("a IS NULL ASC, a DESC")
      expect(mysql.order_term("a", :asc, :first)).to eq("a IS NULL DESC, a ASC")
    end

    it "overwrites on a conflict" do
      expect(sqlite.upsert_clause(['"a"'], ['"b"'])).to eq(' ON CONFLICT ("a") DO UPDATE SET "b" = excluded."b"')
      expect(mysql.upsert_clause(%w[`a`], %w[`b`])).to eq(" ON DUPLICATE KEY UPDATE `b` = VALUES(`b`)")
    end

    it "skips on a conflict" do
      expect(postgresql.upsert_clause([], nil)).to eq(" ON CONFLICT DO NOTHING")
      expect(mysql.upsert_clause(%w[`a`], nil)).to eq(" ON DUPLICATE KEY UPDATE `a` = `a`")
    end

    it "says who has RETURNING" do
      expect([sqlite, postgresql, mysql].map(&:returning?)).to eq([true, true, false])
    end

    it "writes booleans" do
      expect([sqlite, postgresql, mysql].map { |one| one.boolean(true) }).to eq(%w[1 TRUE TRUE])
    end

    it "inserts a row of defaults" do
      expect([sqlite, mysql].map(&:default_values)).to eq([" DEFAULT VALUES", " () VALUES ()"])
    end

    it "locks rows where there are row locks" do
      {
        true => ["", " FOR UPDATE", " FOR UPDATE"],
        :share => ["", " FOR SHARE", " LOCK IN SHARE MODE"],
        "for  update of a, b skip  locked" =>
          ["", ' FOR UPDATE OF "a", "b" SKIP LOCKED', " FOR UPDATE OF `a`, `b` SKIP LOCKED"],
        "FOR SHARE NOWAIT" =>
          ["", " FOR SHARE NOWAIT", " /*!80000 FOR SHARE NOWAIT */ /*M! LOCK IN SHARE MODE NOWAIT */"]
      }.each do |mode, clauses|
        lock = AsyncRecord::Relation.send(:const_get, :Lock).read(mode)
        expect([sqlite, postgresql, mysql].map { |one| one.lock_clause(lock) }).to eq(clauses)
      end
    end

    it "sends times to SQLite as text in UTC with microseconds" do
      time = Time.new(2024, 2, 29, 1, 2, Rational(3_000_004, 1_000_000), "+02:00")
      expect(sqlite.bind(time)).to eq("2024-02-28 23:02:03.000004")
      expect(postgresql.bind(time)).to be(time)
    end

    it "sends dates and decimals to SQLite as text" do
      expect(sqlite.bind(Date.new(2024, 2, 29))).to eq("2024-02-29")
      expect(sqlite.bind(BigDecimal("12345678901234567890.0123456789"))).to eq("12345678901234567890.0123456789")
    end
  end
end
