# frozen_string_literal: true

# What a model does around the storing, finding and making of its records.
RSpec.describe "Callbacks" do
  each_database do
    let(:log) { [] }

    before do
      database.query("create table users (id #{column(:id)}, name #{column(:string)}, updated_at #{column(:time)})")
    end

    def user_model(name = "User", &body)
      log = self.log
      model(name, database) do
        self.table_name = "users"
        define_method(:log) { log }
        class_eval(&body) if body
      end
    end

    it "enclose the work, the first one outermost" do
      user = user_model do
        around_save :outer
        around_save { |_, work| log << :b1 and work.call and log << :b2 }
        around_create { |_, work| log << :c1 and work.call and log << :c2 }
        before_save { log << :before }
        after_save { log << :after }
        define_method(:outer) { |&work| log << :a1 and work.call and log << :a2 }
      end
      expect(user.create(name: "x").persisted?).to be(true)
      expect(log).to eq(%i[before a1 b1 c1 c2 b2 a2 after])
    end

    it "stop the work when they do not let it happen" do
      user = user_model do
        around_save { |record, work| work.call unless record.name == "no" }
        around_destroy { throw :abort }
      end
      expect([user.create(name: "no").persisted?, user.count, user.create!(name: "yes").destroy, user.count])
        .to eq([false, 0, false, 1])
      expect { user.create!(name: "no") }.to raise_error(AsyncRecord::RecordNotSaved)
    end

    it "take back what they stored themselves when one of them stops the work" do
      user = user_model do
        before_save { self.class.insert_all!([{ name: "side effect", updated_at: nil }]) }
        before_save { throw :abort }
      end
      expect([user.create(name: "x").persisted?, user.count]).to eq([false, 0])
    end

    it "run for what was read and what was made" do
      user = user_model do
        after_find { log << [:find, name] }
        after_initialize { log << [:init, new_record?] }
        after_initialize(if: :new_record?) { self.name ||= "anon" }
      end
      expect(user.new.name).to eq("anon")
      user.insert_all!([{ name: "ann", updated_at: nil }])
      log.clear
      expect(user.first.name).to eq("ann")
      expect(log).to eq([[:find, "ann"], [:init, false]])
      log.clear
      user.first.dup
      expect(log.last).to eq([:init, true])
    end

    it "run after a commit, by what happened in the whole transaction" do
      user = user_model do
        after_create_commit { log << :created }
        after_update_commit { log << :updated }
        after_destroy_commit { log << :destroyed }
        after_save_commit { log << :saved }
        after_commit(on: %i[create destroy]) { log << :both }
      end
      record = nil
      AsyncRecord.transaction(database: database) do
        record = user.create!(name: "a")
        record.update!(name: "b")
        expect(log).to eq([])
      end
      expect(log).to eq(%i[created saved both])
      log.clear
      record.update!(name: "c")
      record.destroy
      expect(log).to eq(%i[updated saved destroyed both])
    end

    it "run after a rollback, when the record is what it was" do
      user = user_model do
        after_rollback { log << [:rolled_back, new_record?, name] }
        after_commit { log << :committed }
      end
      AsyncRecord.transaction(database: database) do
        record = user.create!(name: "a")
        record.update!(name: "b")
        raise AsyncRecord::Rollback
      end
      expect(log).to eq([[:rolled_back, true, "a"]])
    end

    it "give a record stored twice its first state back" do
      record = user_model.new(name: "a")
      AsyncRecord.transaction(database: database) do
        record.save!
        record.update!(name: "b")
        record.update!(name: "c")
        raise AsyncRecord::Rollback
      end
      expect([record.new_record?, record.id, record.save!, User.pluck(:name)]).to eq([true, nil, true, [record.name]])
    end

    it "run after the commit of what a savepoint left" do
      user = user_model { after_commit { log << name } }
      AsyncRecord.transaction(database: database) do
        user.create!(name: "outer")
        AsyncRecord.transaction(database: database) do
          user.create!(name: "inner")
          raise AsyncRecord::Rollback
        end
      end
      expect([log, user.pluck(:name)]).to eq([["outer"], ["outer"]])
    end

    it "of validation run on one action" do
      user = user_model do
        before_validation(on: :create) { log << :create }
        after_validation(on: :update) { log << :update }
      end
      user.create!(name: "x").update!(name: "y")
      expect(log).to eq(%i[create update])
    end

    it "run after touching" do
      user = user_model { after_touch { log << :touched } }
      user.create!(name: "x").touch
      expect(log).to eq([:touched])
    end

    it "are inherited, the superclass's first" do
      user = user_model { before_save { log << :parent } }
      child = model("Child", parent: user) { before_save { log << :child } }
      child.create!(name: "x")
      user.create!(name: "y")
      expect(log).to eq(%i[parent child parent])
    end

    it "refuse options that mean nothing" do
      user = user_model
      expect { user.before_save(:x, on: :create) }.to raise_error(ArgumentError, /before_create/)
      expect { user.before_save(:x, iff: :y) }.to raise_error(ArgumentError, /not iff:/)
      expect { user.around_save }.to raise_error(ArgumentError, /method name or a block/)
    end
  end
end
