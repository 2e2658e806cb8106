# frozen_string_literal: true

# Rows that are told apart by several columns, by a column of another name, or not at all.
RSpec.describe "Primary keys" do
  each_database do
    describe "of several columns" do
      before do
        database.query("create table parts (order_id #{column(:integer)} not null, " \
                       "number #{column(:integer)} not null, title #{column(:string)}, " \
                       "lock_version #{column(:integer)}, primary key (order_id, number))")
        model("Part", database)
        Part.insert_all!([[1, 1, "a"], [1, 2, "b"], [2, 1, "c"]].map { |o, n, t| { order_id: o, number: n, title: t } })
      end

      it "are read from the table" do
        expect([Part.primary_key, Part.ids.sort]).to eq([%w[order_id number], [[1, 1], [1, 2], [2, 1]]])
      end

      it "find one, and several in the order asked for" do
        expect([Part.find([1, 2]).title, Part.find([[2, 1], %w[1 1]]).map(&:title),
                Part.find([2, 1], [1, 2]).map(&:title)])
          .to eq(["b", %w[c a], %w[c b]])
        expect { Part.find([9, 9]) }.to raise_error(AsyncRecord::RecordNotFound, /\[9, 9\]/)
        expect { Part.find(1) }.to raise_error(ArgumentError, /\[order_id, number\]/)
        expect(called_back { |done| Part.find([1, 1]) { |line| done.call(line.title) } }).to eq("a")
        expect([Part.exists?([1, 2]), Part.exists?([3, 3])]).to eq([true, false])
      end

      it "sort, first and last" do
        expect([Part.first.id, Part.last.id, Part.first(2).map(&:id)]).to eq([[1, 1], [2, 1], [[1, 1], [1, 2]]])
      end

      it "store, change, move, lock and delete a row" do
        line = Part.create!(order_id: 3, number: 1, title: "d")
        expect([line.id, line.to_param, line.update(title: "e"), line.reload.title]).to eq([[3, 1], "3_1", true, "e"])
        line.update!(number: 2)
        expect([Part.where(order_id: 3).ids, line]).to eq([[[3, 2]], Part.find([3, 2])])
        stale = Part.find([3, 2])
        line.update!(title: "f")
        expect { stale.update!(title: "g") }.to raise_error(AsyncRecord::StaleRecordError)
        line.destroy
        expect(Part.count).to eq(3)
        expect([Part.find([1, 1]).delete.destroyed?, Part.ids.sort]).to eq([true, [[1, 2], [2, 1]]])
      end

      it "are the key of upserts, counters and batches" do
        Part.upsert_all([{ order_id: 1, number: 1, title: "A" }, { order_id: 9, number: 9, title: "N" }])
        expect(Part.order(:order_id, :number).pluck(:title)).to eq(%w[A b c N])
        Part.update_counters([1, 1], lock_version: 2)
        Part.update_counters([[1, 1], [2, 1]], lock_version: 1)
        expect(Part.order(:order_id, :number).pluck(:lock_version)).to eq([3, nil, 1, nil])
        expect(Part.find_each(batch: 1).map(&:title)).to eq(%w[A b c N])
        expect(Part.find_each(batch: 2, start: [1, 2], finish: 2).map(&:title)).to eq(%w[b c])
        expect(Part.find_each(batch: 3, order: :desc).map(&:title)).to eq(%w[N c b A])
        sizes = []
        Part.in_batches(of: 3) { |batch| sizes << batch.count }
        expect(sizes).to eq([3, 1])
      end

      it "narrow a limited change" do
        expect(Part.order(title: :desc).limit(1).delete_all).to eq(1)
        expect(Part.order(:title).offset(1).limit(5).update_all(title: "z")).to eq(1)
        expect(Part.order(:title).pluck(:title)).to eq(%w[a z])
      end

      it "may be left out, equal and in sets" do
        expect(Part.excluding(Part.first, [2, 1]).pluck(:title)).to eq(["b"])
        same = Array.new(2) { Part.find([1, 1]) }
        expect([same.first == same.last, [Part.first, Part.find([1, 1])].uniq.size,
                Part.new.eql?(Part.new)])
          .to eq([true, 1, false])
      end

      it "ask for lists of columns" do
        expect(Part.where(%i[order_id number] => [[1, 2], [2, 1]]).order(:title).pluck(:title)).to eq(%w[b c])
        expect(Part.where(%i[order_id number] => []).count).to eq(0)
        expect { Part.where(%i[order_id number] => [[1]]) }.to raise_error(ArgumentError, /lists of 2 values/)
        expect { Part.where(order_id: Part.where(number: 1)).to_a }
          .to raise_error(AsyncRecord::UnknownPrimaryKey, /name the column with select/)
      end

      it "check uniqueness against others only" do
        strict = model("Strict", database) do
          self.table_name = "parts"
          validates :title, uniqueness: { scope: :order_id }
        end
        expect([strict.find([1, 1]).valid?, strict.new(order_id: 1, number: 7, title: "b").valid?]).to eq([true, false])
      end
    end

    describe "that are missing" do
      before do
        database.query("create table notes (title #{column(:string)}, views #{column(:integer)})")
        model("Note", database)
      end

      it "let rows be made, asked for and changed together" do
        note = Note.create!(title: "a", views: 1)
        Note.insert_all!([{ title: "b", views: 2 }])
        expect([Note.primary_key, note.id, note.title, note.persisted?]).to eq([nil, nil, "a", true])
        expect([Note.count, Note.order(:title).first.title, Note.pluck(:title).sort, Note.take.class,
                Note.limit(1).count])
          .to eq([2, "a", %w[a b], Note, 1])
        expect([Note.where(title: "a").update_all(views: 5), Note.where(views: 5).delete_all]).to eq([1, 1])
        expect(Note.new(title: "x")).not_to eq(Note.new(title: "x"))
      end

      it "are an error that says so where a row has to be told apart" do
        note = Note.create!(title: "a")
        [-> { Note.find(1) }, -> { Note.first }, -> { Note.last }, -> { Note.ids }, -> { note.update!(title: "b") },
         -> { note.destroy }, -> { note.reload }, -> { note.touch }, -> { Note.find_each { nil } },
         -> { Note.limit(1).delete_all }, -> { Note.upsert_all([{ title: "x" }]) }].each do |call|
          expect(&call).to raise_error(AsyncRecord::UnknownPrimaryKey, /notes has no primary key/)
        end
        expect(Note.count).to eq(1)
      end

      it "can be named" do
        Note.primary_key = "title"
        Note.create!(title: "a", views: 1).update!(views: 2)
        expect([Note.find("a").views, Note.first.id]).to eq([2, "a"])
        Note.primary_key = %w[title views]
        expect(Note.find(["a", 2]).id).to eq(["a", 2])
      end
    end

    it "that the table names count more than an id" do
      database.query("create table places (code #{column(:string)} primary key, id #{column(:integer)})")
      place = model("Place", database)
      place.create!(code: "de", id: 7)
      expect([place.primary_key, place.find("de")["id"], place.first.id]).to eq(["code", 7, "de"])
    end

    it "stay what they were for records that are there when the table's description is forgotten" do
      database.query("create table places (code #{column(:string)} primary key, name #{column(:string)})")
      place = model("Place", database)
      germany = place.create!(code: "de", name: "Germany")
      expect { database.query("nonsense") }.to raise_error(AsyncRecord::QueryError)
      expect([germany.id, germany.to_param, place.primary_key]).to eq(%w[de de code])
      expect { database.query("nonsense") }.to raise_error(AsyncRecord::QueryError)
      germany.update!(name: "Deutschland")
      expect(place.find("de").name).to eq("Deutschland")
    end

    it "that are named late are asked for at once, by subclasses too" do
      database.query("create table places (id #{column(:integer)} primary key, code #{column(:string)})")
      place = model("Place", database)
      city = model("City", parent: place)
      place.create!(id: 1, code: "de")
      expect([place.find(1).id, city.find(1).id]).to eq([1, 1])
      place.primary_key = "code"
      expect([place.find("de").id, city.find("de").id, city.primary_key]).to eq(%w[de de code])
    end

    it "are those of the database that the class has now" do
      database.query("create table places (id #{column(:integer)} primary key, code #{column(:string)})")
      other = sqlite_database
      other.query("create table places (code text primary key)")
      place = model("Place", database)
      place.create!(id: 1, code: "de")
      expect(place.find(1).id).to eq(1)
      place.connects_to(other)
      place.create!(code: "fr")
      expect([place.find("fr").id, place.primary_key]).to eq(%w[fr code])
      place.connects_to(database)
      expect([place.find(1).id, place.primary_key]).to eq([1, "id"])
    end
  end
end
