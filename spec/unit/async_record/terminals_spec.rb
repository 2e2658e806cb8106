# frozen_string_literal: true

RSpec.describe AsyncRecord::Relation, "asked" do
  let(:database) do
    FakeDatabase.new(tables: { users: { id: "INTEGER", name: "VARCHAR", age: "INTEGER", updated_at: "DATETIME" } })
  end
  let!(:user) { model("User", database) }
  let(:columns) { %w[id name age updated_at] }

  before { database.answer(/\ASELECT "users"/, columns, [1, "ann", 31, nil], [2, "bob", nil, nil]) }

  it "makes records of rows" do
    expect(user.where(age: 1).to_a.map(&:name)).to eq(%w[ann bob])
    expect(user.all.map(&:id)).to eq([1, 2])
  end

  it "finds by a prepared text, with the key and the limit as binds" do
    user.find(1)
    user.find("2 or 1=1")
    expect(database.statements.map(&:last)).to eq([[1, 1], [2, 1]])
    expect(database.sql.uniq.size).to eq(1)
    expect(database.sql.first).to end_with('FROM "users" WHERE "users"."id" = ? LIMIT ?')
  end

  it "asks nothing for a nil key" do
    expect { user.find(nil) }.to raise_error(AsyncRecord::RecordNotFound)
    expect(database.sql).to be_empty
  end

  it "finds several, in the order asked for" do
    expect(user.find([2, "1"]).map(&:id)).to eq([2, 1])
    expect { user.find([2, 9]) }.to raise_error(AsyncRecord::RecordNotFound, /with id 9/)
  end

  it "takes the first by primary key, the last backwards" do
    user.first
    user.last
    expect(database.sql.map { |sql| sql[/ORDER BY .*/] })
      .to eq(['ORDER BY "users"."id" ASC LIMIT ?', 'ORDER BY "users"."id" DESC LIMIT ?'])
  end

  it "gives the last few in order" do
    database.answer(/DESC LIMIT/, columns, [9, "z", 1, nil], [8, "y", 1, nil])
    expect(user.last(2).map(&:id)).to eq([8, 9])
  end

  it "counts all, a column, distinct values, a limited relation" do
    database.answer(/COUNT/, %w[n], [7])
    expect([user.count, user.count(:age), user.distinct.count(:age), user.limit(3).count]).to eq([7, 7, 7, 7])
    expect(database.sql).to eq(
      ['SELECT COUNT(*) FROM "users"', 'SELECT COUNT("users"."age") FROM "users"',
       'SELECT COUNT(DISTINCT "users"."age") FROM "users"',
       'SELECT COUNT(*) FROM (SELECT 1 FROM "users" LIMIT ?) AS counted']
    )
  end

  it "counts by group" do
    database.answer(/GROUP BY "users"."age"/, %w[age n], [5, 2], [nil, 1])
    expect(user.group(:age).count).to eq({ 5 => 2, nil => 1 })
  end

  it "counts by several groups" do
    database.answer(/GROUP BY "users"."age", "users"."name"/, %w[age name n], [5, "a", 2])
    expect(user.group(:age, :name).count).to eq({ [5, "a"] => 2 })
  end

  it "casts what an aggregate lost of its type" do
    database.answer(/MAX/, %w[m], ["2024-01-02 03:04:05.000000"])
    expect(user.maximum(:updated_at)).to eq(Time.utc(2024, 1, 2, 3, 4, 5))
  end

  it "sums nothing to zero" do
    database.answer(/SUM/, %w[s], [nil])
    expect(user.sum(:age)).to eq(0)
  end

  it "plucks one column flat and several as rows" do
    expect(user.pluck(:id)).to eq([1, 2])
    expect(user.order(:id).pluck(:id, :name, :age, :updated_at).first).to eq([1, "ann", 31, nil])
    expect(user.pick(:id)).to eq(1)
    expect(user.ids).to eq([1, 2])
  end

  it "asks for existence with one row and no order" do
    database.answer(/SELECT 1 FROM/, %w[1], [1])
    expect([user.order(:name).exists?, user.exists?(3), user.exists?(name: "x"), user.any?, user.none?, user.empty?])
      .to eq([true, true, true, true, false, false])
    expect(database.sql.first).to eq('SELECT 1 FROM "users" LIMIT ?')
  end

  it "changes many rows" do
    user.where(age: nil).update_all(age: 1, name: AsyncRecord.sql("upper(name)"))
    expect(database.statements.last)
      .to eq(['UPDATE "users" SET "age" = ?, "name" = upper(name) WHERE "users"."age" IS NULL', [1]])
  end

  it "narrows a limited change by key" do
    user.order(:id).limit(2).delete_all
    expect(database.sql.last).to eq(
      'DELETE FROM "users" WHERE "users"."id" IN (SELECT "users"."id" FROM "users" ORDER BY "users"."id" ASC LIMIT ?)'
    )
  end

  it "adds in the database" do
    user.where(id: 1).increment(age: 2)
    expect(database.statements.last)
      .to eq(['UPDATE "users" SET "age" = COALESCE("age", 0) + ? WHERE "users"."id" = ?', [2, 1]])
  end

  it "inserts rows with their time of change, skipping conflicts" do
    user.insert_all([{ name: "a", updated_at: nil }, { name: "b", updated_at: nil }], unique_by: :name)
    expect(database.statements.last).to eq(
      ['INSERT INTO "users" ("name", "updated_at") VALUES (?, ?), (?, ?) ON CONFLICT ("name") DO NOTHING',
       ["a", nil, "b", nil]]
    )
  end

  it "overwrites what was given, except the key" do
    user.upsert_all([{ id: 1, name: "a", updated_at: nil }])
    expect(database.sql.last).to end_with(
      'ON CONFLICT ("id") DO UPDATE SET "name" = excluded."name", "updated_at" = excluded."updated_at"'
    )
    user.upsert_all([{ id: 1, name: "a", updated_at: nil }], update: [:name])
    expect(database.sql.last).to end_with('DO UPDATE SET "name" = excluded."name"')
  end

  it "splits what exceeds the binds of a statement, in one transaction" do
    count = user.insert_all!(Array.new(11_000) { |index| { id: index, name: "x", updated_at: nil } })
    expect(database.sql.map { |sql| sql[0, 6] }).to eq(%w[BEGIN INSERT INSERT COMMIT])
    expect(count).to eq(2)
  end

  it "refuses rows of different shapes" do
    expect { user.insert_all([{ name: "a" }, { age: 1 }]) }.to raise_error(ArgumentError, /same columns/)
  end

  it "refuses unknown columns in every write" do
    expect { user.update_all(nmae: 1) }.to raise_error(AsyncRecord::UnknownColumn)
    expect { user.insert_all([{ nmae: 1 }]) }.to raise_error(AsyncRecord::UnknownColumn)
    expect { user.upsert_all([{ name: 1 }], unique_by: :nmae) }.to raise_error(AsyncRecord::UnknownColumn)
  end

  it "walks in batches by key" do
    pages = { nil => [[1], [2]], 2 => [[3]] }
    database.pool.answer(/ORDER BY "users"."id" ASC LIMIT/) do |sql, binds|
      rows = sql.include?("> ?") ? pages.fetch(binds[-2]) : pages.fetch(nil)
      FakeRows.new(columns, rows.map { |(id)| [id, "n", 1, nil] })
    end
    expect(user.find_each(batch: 2).map(&:id)).to eq([1, 2, 3])
    expect(database.sql.size).to eq(2)
  end

  it "makes JSON by asking the driver for it" do
    database.pool.answer(/\ASELECT "users"."id" FROM/, '[{"id":1}]')
    expect(user.select(:id).to_json_bytes).to eq('[{"id":1}]')
    expect(database.log.last.last).to eq({ shape: :json })
  end

  it "hands a time limit to the driver" do
    user.timeout(0.5).to_a
    expect(database.log.last.last).to eq({ timeout: 0.5 })
  end

  it "runs the scopes and class methods of its model on its own rows" do
    model("Person", database) do
      self.table_name = "users"
      scope :adults, -> { where(age: 18..) }
      scope(:named) { |name| where(name: name) if name }
      def self.young
        where(age: ..30)
      end

      def self.total
        count
      end
    end
    database.answer(/COUNT/, %w[n], [1])
    Person.where(id: 1).adults.named("x").named(nil).young.total
    expect(database.sql.last).to eq(
      'SELECT COUNT(*) FROM "users" WHERE "users"."id" = ? AND ("users"."age" >= ?) AND "users"."name" = ? ' \
      'AND ("users"."age" <= ?)'
    )
  end

  it "refuses a scope that would hide a method" do
    expect { user.scope(:count, -> { all }) }.to raise_error(ArgumentError, /would hide/)
  end

  it "lets a subclass use the scopes of its superclass" do
    user.scope(:adults, -> { where(age: 18..) })
    admin = model("Admin", parent: user)
    expect(admin.where(id: 1).adults.model).to be(admin)
    expect(admin.adults.to_sql).to include('FROM "users" WHERE ("users"."age" >= ?)')
  end
end
