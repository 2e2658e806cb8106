# frozen_string_literal: true

# Hostile text through every public method that takes a value, a name or a fragment: as a value it is only a value, as a
# name it is refused, and the tables are as they were.
RSpec.describe "SQL injection" do
  let(:database) { memory_database }

  hostile = [
    "1 or 1=1", "' or '1'='1", "x'; drop table users; --", '" or ""="', "`; delete from users; --",
    "1); drop table users; --",
    "name; drop table users", "name) from users; --", "*", "users.*", "(select password from users)",
    "id, (select 1)", "name desc; drop table users", "case when 1=1 then id else name end", "name --", "name /*", "?",
    ":name", "a\0b", "name\nunion select 1", "%", "_", "\\'; drop table users; --", "$1", "0x27",
    "1 union select id, name, 1 from users", "ｎａｍｅ", "name collate nocase", "rowid); drop table users; --"
  ]

  before do
    database.query("create table users (id integer primary key, name text, age integer)")
    model("User", database)
    User.insert_all!([{ name: "ann", age: 1 }, { name: "bob", age: 2 }])
  end

  after { expect(database.query("select name from users order by id").map { |row| row["name"] }).to eq(%w[ann bob]) }

  def names(relation)
    relation.order(:id).pluck(:name)
  end

  hostile.each do |text|
    describe "with #{text.inspect}" do
      it "is a value wherever a value goes" do
        expect(names(User.where(name: text))).to eq([])
        expect(names(User.where(name: [text, nil]))).to eq([])
        expect(names(User.where("name = ?", text))).to eq([])
        expect(names(User.where("name = :n or name in (:l)", n: text, l: [text, text]))).to eq([])
        expect(names(User.where(name: text..text))).to eq([])
        expect(names(User.where.not(name: text))).to eq(%w[ann bob])
        expect(names(User.group(:name).having("name = ?", text))).to eq([])
        expect(User.find_by(name: text)).to be_nil
        expect(User.exists?(name: text)).to be(false)
        expect(User.query("select * from users where name = ?", text)).to eq([])
        expect(User.find_by_sql("select * from users where name = :n", n: text)).to eq([])
        expect(User.where(name: text).update_all(name: "x")).to eq(0)
        expect(User.where(name: text).delete_all).to eq(0)
        expect(User.where(AsyncRecord.sql("name = ?", text)).count).to eq(0)
      end

      it "is stored and read as it is" do
        AsyncRecord.transaction(database: database) do
          user = User.create!(name: text)
          expect(user.reload.name).to eq(text)
          user.update!(name: "#{text}2")
          expect(User.find_by(name: "#{text}2")).to eq(user)
          expect(User.upsert_all([{ id: user.id, name: text }], returning: :name)).to eq([text])
          expect(User.find_or_create_by(name: text)).to eq(user)
          expect(User.where(id: user.id).update_all(name: "#{text}3")).to eq(1)
          raise AsyncRecord::Rollback
        end
      end

      it "finds at most the number it begins with" do
        found = User.find(text) { |_, _| nil }.await
        expect([nil, 1]).to include(found&.id)
      end

      it "is refused as a name" do
        refused = [AsyncRecord::UnsafeSql, AsyncRecord::UnknownColumn, AsyncRecord::UnknownAttribute,
                   AsyncRecord::InvalidIdentifier, ArgumentError]
        [-> { User.order(text).to_a }, -> { User.reorder(text => :desc).to_a }, -> { User.order(name: text).to_a },
         -> { User.select(text).to_a }, -> { User.select(text => :x).to_a }, -> { User.group(text).count },
         -> { User.pluck(text) }, -> { User.pick(text) }, -> { User.count(text) }, -> { User.sum(text) },
         -> { User.average(text) }, -> { User.minimum(text) }, -> { User.maximum(text) }, -> { User.joins(text).to_a },
         -> { User.lock(text).to_a }, -> { User.where(text => 1).to_a }, -> { User.where(users: { text => 1 }).to_a },
         -> { User.update_all(text => 1) }, -> { User.update_all(text) }, -> { User.increment(text => 1) },
         -> { User.insert_all([{ text => 1 }]) }, -> { User.insert_all([{ name: "x" }], unique_by: text) },
         -> { User.insert_all([{ name: "x" }], returning: text) },
         -> { User.upsert_all([{ name: "x" }], update: [text]) }, -> { User.new(text => 1) }, -> { User.first[text] },
         -> { User.first.update_columns(text => 1) }, -> { User.first.touch(text) }].each_with_index do |call, index|
          got = begin
            call.call
          rescue StandardError => error
            error.class
          end
          expect(refused).to include(got), "call #{index} gave #{got.inspect}"
        end
      end

      it "is refused or harmless as another table's name" do
        expect { User.where(text => { id: 1 }).to_a }.to raise_error(AsyncRecord::Error)
      end

      it "is quoted as a table or an alias" do
        ghost = model("Ghost", database)
        ghost.table_name = text
        expect { ghost.count }.to raise_error(AsyncRecord::Error)
        next if text.include?("\0")

        expect(User.select(name: text).limit(1).as_json).to eq([{ text => "ann" }])
      end

      it "is refused as a limit or an offset unless it is a number" do
        expect { User.limit(text).to_a }.to raise_error(ArgumentError)
        expect { User.offset(text).to_a }.to raise_error(ArgumentError)
      end
    end
  end

  it "runs one statement at a time" do
    expect { User.query("select 1; drop table users") }.to raise_error(AsyncRecord::QueryError)
    expect { User.where("1=1; drop table users").to_a }.to raise_error(AsyncRecord::FragmentError)
  end

  it "keeps a fragment inside its parentheses" do
    expect { User.where("1=1) or (1=1").to_a }.to raise_error(AsyncRecord::FragmentError)
    expect(User.where(name: "x").where("1=1 or 1=1 --").count).to eq(0)
  end

  it "does not take an unknown quoted name for text, as SQLite would" do
    ghost = model("Ghost", database) { self.table_name = "users" }
    expect { ghost.where("nonsense" => "nonsense").to_a }.to raise_error(AsyncRecord::UnknownColumn)
  end
end
