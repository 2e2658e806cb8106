# frozen_string_literal: true

# Changing many rows at once, on each kind of database.
RSpec.describe "Writes" do
  each_database do
    before do
      database.query("create table hits (id #{column(:id)}, path #{column(:string)}, name #{column(:string)}, " \
                     "count #{column(:integer)}, updated_at #{column(:time)})")
      database.query("create unique index hits_path on hits (path)")
      model("Hit", database)
    end

    def rows(*columns)
      Hit.order(:id).pluck(*columns)
    end

    describe "insert" do
      it "all or none" do
        Hit.insert_all!([{ path: "/a", count: 1 }, { path: "/b", count: 2 }])
        expect { Hit.insert_all!([{ path: "/c", count: 1 }, { path: "/a", count: 2 }]) }
          .to raise_error(AsyncRecord::UniqueViolation)
        expect(rows(:path, :count)).to eq([["/a", 1], ["/b", 2]])
      end

      it "what is not there yet" do
        Hit.insert_all!([{ path: "/a", count: 1 }])
        Hit.insert_all([{ path: "/a", count: 9 }, { path: "/b", count: 2 }])
        Hit.insert_all([{ path: "/b", count: 9 }], unique_by: :path)
        expect(rows(:path, :count)).to eq([["/a", 1], ["/b", 2]])
      end

      it "or overwrite all given columns, some, or by SQL" do
        Hit.upsert_all([{ path: "/a", name: "x", count: 1 }], unique_by: :path)
        Hit.upsert_all([{ path: "/a", name: "y", count: 2 }], unique_by: :path)
        Hit.upsert_all([{ path: "/a", name: "z", count: 7 }], unique_by: :path, update_only: :count)
        expect(rows(:path, :name, :count)).to eq([["/a", "y", 7]])
        Hit.upsert({ path: "/a", name: "q", count: 0 }, unique_by: :path,
                                                        update_only: AsyncRecord.sql("count = hits.count + ?", 3))
        expect(rows(:name, :count)).to eq([["y", 10]])
      end

      it "by the primary key unless told otherwise" do
        Hit.insert_all!([{ id: 5, path: "/a", count: 1 }])
        Hit.upsert_all([{ id: 5, path: "/b", count: 2 }, { id: 6, path: "/c", count: 3 }])
        expect(rows(:id, :path)).to eq([[5, "/b"], [6, "/c"]])
      end

      it "and return columns" do
        skip "MySQL has no RETURNING" unless returning?

        expect(Hit.insert_all!([{ path: "/a", count: 1 }, { path: "/b", count: 2 }], returning: :path)).to eq(%w[/a /b])
        expect(Hit.upsert_all([{ path: "/a", count: 5 }], unique_by: :path, returning: %i[path count]))
          .to eq([["/a", 5]])
        expect(Hit.insert_all([], returning: :id)).to eq([])
      end

      it "the times of change" do
        Hit.insert_all!([{ path: "/a" }])
        expect(Hit.pick(:updated_at)).to be_within(60).of(Time.now)
      end

      it "nothing into nothing" do
        expect([Hit.insert_all([]), Hit.upsert_all([]), Hit.none.insert_all([{ path: "/a" }]), Hit.count])
          .to eq([0, 0, 0, 0])
      end

      it "in both styles" do
        expect(called_back { |done| Hit.insert_all!([{ path: "/a" }]) { |count| done.call(count) } }).to eq(1)
        _, error = called_back { |done| Hit.insert_all!([{ path: "/a" }]) { |count, e| done.call(count, e) } }
        expect(error).to be_a(AsyncRecord::UniqueViolation)
      end
    end

    describe "change" do
      before do
        Hit.insert_all!(%w[a b c d].each_with_index.map do |path, index|
                          { path: path, count: index, updated_at: nil }
                        end)
      end

      it "what a limit, an order and an offset leave" do
        expect(Hit.order(count: :desc).limit(2).update_all(name: "top")).to eq(2)
        expect(Hit.order(:count).limit(1).offset(1).update_all(name: "second")).to eq(1)
        expect(rows(:name)).to eq([nil, "second", "top", "top"])
        expect(Hit.order(:count).limit(3).delete_all).to eq(3)
        expect(rows(:path)).to eq(["d"])
      end

      it "by values, expressions and subqueries" do
        joined = kind == :mysql ? "concat(path, ?)" : "path || ?"
        Hit.where(path: "a").update_all(name: AsyncRecord.sql(joined, "!"))
        Hit.where(count: 2..).update_all(count: AsyncRecord.sql("count * ?", 10), name: nil)
        expect(rows(:name, :count)).to eq([["a!", 0], [nil, 1], [nil, 20], [nil, 30]])
      end

      it "counters, of rows and of records" do
        Hit.where(path: %w[a b]).update_counters(count: 5)
        Hit.update_counters(Hit.find_by!(path: "c").id, count: -1, touch: true)
        expect([rows(:count), Hit.find_by(path: "c").updated_at.class, Hit.find_by(path: "a").updated_at])
          .to eq([[5, 6, 1, 3], Time, nil])
        hit = Hit.find_by!(path: "a")
        Hit.where(path: "a").update_counters(count: 1)
        expect([hit.increment!(:count, 2).count, hit.reload.count, hit.decrement!(:count).reload.count, hit.changed?])
          .to eq([7, 8, 7, false])
        expect(hit.increment!(:count, by: 3, touch: true).reload.updated_at).to be_within(60).of(Time.now)
        expect { Hit.update_counters(1, count: "1; drop table hits") }.to raise_error(ArgumentError, /by a number/)
        expect(called_back { |done| hit.increment!(:count) { |record| done.call(record.count) } }).to eq(11)
      end

      it "the time of change" do
        Hit.where(path: "a").touch_all(time: Time.utc(2001))
        expect(Hit.order(:id).pluck(:updated_at).first(2)).to eq([Time.utc(2001), nil])
      end

      it "by conditions in one go" do
        expect([Hit.delete_by(path: "a"), Hit.destroy_by("count > ?", 2).map(&:path), rows(:path)])
          .to eq([1, ["d"], %w[b c]])
      end

      it "one attribute or column of a record" do
        hit = Hit.first
        expect([hit.update_attribute(:name, "n"), hit.update_column(:count, "9"), hit.count, hit.changed?,
                hit.reload.name])
          .to eq([true, true, 9, false, "n"])
      end
    end
  end

  each_database(:mysql) do
    it "says when MySQL cannot tell unique indexes apart" do
      database.query("create table users (id bigint primary key auto_increment, " \
                     "email varchar(50) unique, name varchar(50) unique, age int)")
      user = model("User", database)
      expect { user.upsert_all([{ email: "a", name: "b" }], unique_by: :email) }
        .to raise_error(AsyncRecord::NotSupported, /cannot tell .* apart.*name/)
      user.upsert_all([{ email: "a", age: 1 }], unique_by: :email)
      user.upsert_all([{ email: "a", age: 2 }], unique_by: :email)
      user.upsert_all([{ id: user.first.id, age: 3 }], unique_by: :id)
      expect(user.pluck(:email, :age)).to eq([["a", 3]])
      expect { user.insert_all([{ email: "a" }], unique_by: %i[email name]) }
        .to raise_error(AsyncRecord::NotSupported, /no unique index on \(email, name\)/)
    end
  end
end
