# frozen_string_literal: true

# A record saved with a block on the dispatcher, by a model that only writes rows: no fiber waits for it.
RSpec.describe AsyncRecord::Base, "saved without a fiber" do
  each_database do
    before do
      database.query("create table users (id #{column(:id)}, name #{column(:string)}, age integer, " \
                     "lock_version integer not null default 0, updated_at #{column(:time)})")
      model("User", database)
      User.columns
    end

    it "creates, changes and creates by a relation, and the record knows what its row has" do
      allow(AsyncRecord::Pending).to receive(:spawn).and_call_original
      seen = called_back_in_turn do |done|
        User.create!({ name: "ann", age: 1 }) do |ann|
          ann.update!({ age: 2 }) do |saved|
            User.where(name: "bob").create(age: 3) { |bob| done.call([ann, saved, bob]) }
          end
        end
      end
      expect(AsyncRecord::Pending).not_to have_received(:spawn)
      ann, saved, bob = seen
      expect([saved, ann.id, ann.age, ann.lock_version, ann.changed?, ann.saved_changes["age"]])
        .to eq([true, 1, 2, 1, false, [1, 2]])
      expect([bob.id, bob.name, bob.age, bob.persisted?]).to eq([2, "bob", 3, true])
      expect(User.order(:id).map { |user| [user.id, user.name, user.age, user.updated_at.nil?] })
        .to eq([[1, "ann", 2, false], [2, "bob", 3, false]])
    end

    it "keeps what is assigned while the statement is under way, by value and in place" do
      user = User.create!(name: "ann", age: 1)
      called_back_in_turn do |done|
        user.update!({ name: +"eve", age: 2 }) { done.call(nil) }
        user.age = 3
        user.name << "lyn"
      end
      expect(user.changes).to eq("name" => %w[eve evelyn], "age" => [2, 3])
      expect(User.find(user.id).attributes.values_at("name", "age")).to eq(["eve", 2])
      user.save!
      expect(User.find(user.id).attributes.values_at("name", "age")).to eq(["evelyn", 3])
    end

    it "keeps what is assigned while a new row is under way" do
      user = called_back_in_turn do |done|
        new = User.new(name: "ann", age: 1)
        new.save { done.call(new) }
        new.age = 5
      end
      expect(user.changes).to eq("age" => [1, 5])
      expect(User.find(user.id).age).to eq(1)
    end

    # Runs the block between the submission of a change and its result.
    def meanwhile(record, changes)
      called_back_in_turn do |done|
        record.update!(changes) { done.call(nil) }
        yield
      end
    end

    it "takes what the record read or counted meanwhile for no change" do
      user = User.create!(name: "ann", age: 1)
      stale = User.find(user.id).attributes
      meanwhile(user, name: "eve") do
        user.instance_variable_set(:@attributes, stale.dup)
        user.clear_changes_information
      end
      expect([user.name, user.changed]).to eq(["ann", []])
      user.reload
      meanwhile(user, name: "bob") { user.send(:settle, "age" => 2) }
      expect([user.age, user.changed]).to eq([2, []])
    end

    it "keeps what is assigned back to its old value meanwhile" do
      user = User.create!(name: "ann")
      meanwhile(user, name: "eve") { user.name = "ann" }
      expect(user.changes).to eq("name" => %w[eve ann])
    end

    it "takes a value that equals nothing, not even itself, for what was submitted" do
      written = 0
      odd = Object.new
      odd.define_singleton_method(:cast) { |value| value && Float::NAN }
      odd.define_singleton_method(:dump) { |_| written += 1 }
      User.attribute :age, odd
      user = User.create!(name: "ann")
      meanwhile(user, age: 1) { nil }
      expect([user.saved_changes.keys.include?("age"), user.changed]).to eq([true, []])
    end

    it "asks for no table when the result is here, though somebody's error cast doubt on what is known" do
      user = User.new(name: "ann")
      called_back_in_turn do |done|
        user.save { done.call(nil) }
        database.schema.forget
        allow(database.schema).to receive(:table).and_call_original
      end
      expect(database.schema).not_to have_received(:table)
      expect([user.id, user.changed]).to eq([1, []])
    end

    it "does not move the key of a record that is stored twice at once" do
      user = called_back_in_turn do |done|
        new = User.new(name: "ann")
        results = 0
        2.times { new.save { done.call(new) if (results += 1) == 2 } }
      end
      expect([User.count, user.changed]).to eq([2, []])
    end

    it "forgets the errors of an earlier check, unless none is wanted" do
      user = User.new
      user.errors.add(:name, "is odd")
      called_back_in_turn { |done| user.save(validate: false) { done.call(nil) } }
      expect(user.errors.size).to eq(1)
      called_back_in_turn { |done| user.update({ age: 2 }) { done.call(nil) } }
      expect(user.errors).to be_empty
    end

    it "makes a record once, also one that has to be stored by code that waits" do
      calls = []
      User.attribute :name, default: -> { calls << :default && "ann" }
      User.define_method(:age=) { |value| (calls << :writer) && super(value) }
      User.columns
      create = lambda do |attributes|
        called_back_in_turn { |done| User.create(attributes) { |user, error| done.call(user || error) } }
      end
      expect(create.call(age: AsyncRecord.sql("1 + 1"))).to be_persisted
      expect(create.call(age: 1, nothing: 2)).to be_a(AsyncRecord::UnknownAttribute)
      expect(calls).to eq(%i[default writer default writer])
      expect([User.count, User.pick(:age)]).to eq([1, 2])
    end

    it "gives a refused change to the error path, and the record stays changed" do
      user = User.create!(name: "ann")
      other = User.find(user.id)
      other.update!(name: "bob")
      value, error = called_back_in_turn { |done| user.update({ name: "eve" }) { |v, e| done.call([v, e]) } }
      expect([value, error.class]).to eq([nil, AsyncRecord::StaleRecordError])
      expect(user.changes).to include("name" => %w[ann eve])
      error = called_back_in_turn { |done| User.new(age: 1 << 80).save { |_, e| done.call(e) } }
      expect(error).to be_a(StandardError)
      expect(User.count).to eq(1)
    end

    it "counts as a write, after which associations read again" do
      user = User.create!(name: "ann")
      before = database.writes_to("users")
      called_back_in_turn { |done| user.update!({ age: 9 }) { done.call(nil) } }
      expect(database.writes_to("users")).to eq(before + 1)
    end

    it "leaves models with callbacks and checks to code that waits" do
      User.validates :name, presence: true
      saved, error = called_back_in_turn { |done| User.new.save { |v, e| done.call([v, e]) } }
      expect([saved, error]).to eq([false, nil])
      User.before_save { self.age = 7 }
      user = called_back_in_turn { |done| User.create!({ name: "ann" }) { |created| done.call(created) } }
      expect(User.find(user.id).age).to eq(7)
    end

    it "joins the transaction that is handed on" do
      user = User.create!(name: "ann")
      in_fiber do
        tx = AsyncRecord.begin(database: database)
        called_back { |done| user.update!({ age: 3 }, using: tx) { done.call(nil) } }
        tx.rollback
      end
      expect(User.find(user.id).age).to be_nil
    end
  end
end
