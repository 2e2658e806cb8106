# frozen_string_literal: true

RSpec.describe AsyncRecord::Base do
  each_database do
    before do
      database.query(<<~SQL)
        create table users (id #{column(:id)}, name varchar(40) not null, email varchar(80) unique,
          age integer default 5, meta #{column(:json)}, balance decimal(10, 2), active boolean default true, born date,
          created_at #{column(:time)}, updated_at #{column(:time)})
      SQL
      model("User", database)
    end

    describe "storing" do
      it "inserts, and takes key, defaults and timestamps back" do
        user = User.create(name: "ann")
        expect([user.id, user.age, user.active, user.persisted?, user.changed?]).to eq([1, 5, true, true, false])
        expect(user.created_at).to be_within(5).of(Time.now)
        expect(User.find(1).attributes).to eq(user.attributes)
      end

      it "keeps a timestamp that was given" do
        time = Time.utc(2001, 2, 3)
        expect(User.create(name: "ann", created_at: time).reload.created_at).to eq(time)
      end

      it "writes only what was changed" do
        user = User.create(name: "ann", age: 1)
        statements = queries do
          user.update(age: 2)
          user.save
        end
        expect(statements.map { |sql| sql.gsub(/\$\d/, "?") })
          .to eq(['UPDATE "users" SET "age" = ?, "updated_at" = ? WHERE "users"."id" = ?'])
      end

      it "knows what was changed and what the last save wrote" do
        user = User.create(name: "ann", age: 1)
        user.age = "2"
        user.name = "ann"
        expect([user.changes, user.age_changed?, user.age_was,
                user.name_changed?]).to eq([{ "age" => [1, 2] }, true, 1, false])
        user.age = 1
        expect(user.changed?).to be(false)
        user.update(age: 3)
        expect(user.saved_changes.fetch("age")).to eq([1, 3])
      end

      it "notices a document changed in place" do
        user = User.create(name: "ann", meta: { tags: ["a"] })
        found = User.find(user.id)
        found.meta["tags"] << "b"
        expect(found.changes).to eq({ "meta" => [{ "tags" => ["a"] }, { "tags" => %w[a b] }] })
        found.save
        expect(User.find(user.id).meta).to eq({ "tags" => %w[a b] })
      end

      it "writes text changed in place when told" do
        user = User.create(name: "ann")
        user.attribute_will_change!(:name)
        user.name << "a"
        user.save
        expect(user.reload.name).to eq("anna")
      end

      it "takes changes back" do
        user = User.create(name: "ann")
        user.name = "bob"
        user.restore_attributes
        expect([user.name, user.changed?]).to eq(["ann", false])
      end

      it "moves a row to a new key" do
        user = User.create(name: "ann")
        user.update(id: 9)
        expect([User.ids, user.id]).to eq([[9], 9])
      end

      it "says that a row is gone instead of updating nothing" do
        user = User.create(name: "ann")
        User.delete_all
        expect { user.update(name: "x") }.to raise_error(AsyncRecord::RecordNotFound, /is gone/)
      end

      it "deletes" do
        user = User.create(name: "ann")
        expect(user.destroy).to be(user)
        expect([user.destroyed?, user.persisted?, User.count]).to eq([true, false, 0])
        expect(User.create(name: "bob").delete.destroyed?).to be(true)
      end

      it "reloads" do
        user = User.create(name: "ann")
        User.update_all(name: "bob")
        user.age = 99
        expect([user.reload.name, user.age]).to eq(["bob", 5])
        user.destroy
        expect { user.reload }.to raise_error(AsyncRecord::RecordNotFound)
      end

      it "touches, adds and writes columns as they are" do
        user = User.create(name: "ann", updated_at: Time.utc(2000))
        user.touch
        expect(user.reload.updated_at).to be_within(5).of(Time.now)
        expect(user.increment!(:age, by: 2).reload.age).to eq(7)
        user.update_columns(name: "bob")
        expect([user.reload.name, user.changed?]).to eq(["bob", false])
      end

      it "calls back in block style, all of it" do
        user = called_back { |done| User.create(name: "ann") { |record| done.call(record) } }
        expect(called_back { |done| user.update(age: 6) { |saved, error| done.call(saved, error) } }).to eq([true, nil])
        user.age = 7
        expect(called_back { |done| user.save { |saved| done.call(saved) } }).to be(true)
        expect(called_back { |done| user.reload { |record| done.call(record.age) } }).to eq(7)
        expect(called_back { |done| user.destroy { |record| done.call(record.destroyed?) } }).to be(true)
        expect(called_back { |done| User.new(name: "").valid? { |valid| done.call(valid) } }).to be(true)
        _, error = called_back { |done| User.create! { |record, e| done.call(record, e) } }
        expect(error).to be_a(AsyncRecord::NotNullViolation)
      end
    end

    describe "attributes" do
      it "refuses unknown names, and names the nearest" do
        expect { User.new(nmae: 1) }.to raise_error(AsyncRecord::UnknownAttribute, /did you mean "name"/)
        expect { User.new["nmae"] }.to raise_error(AsyncRecord::UnknownAttribute)
      end

      it "says when a record was loaded without an attribute" do
        user = User.create(name: "ann")
        partial = User.select(:id).find_by(id: user.id)
        expect { partial.name }.to raise_error(AsyncRecord::MissingAttribute, /loaded without "name"/)
        expect([partial.has_attribute?(:name), partial.id]).to eq([false, user.id])
      end

      it "has readers before any record was loaded" do
        expect([User.new.respond_to?(:email), User.new.respond_to?(:nonsense)]).to eq([true, false])
      end

      it "lets a class extend a reader with super" do
        model("Loud", database) do
          self.table_name = "users"
          def name
            super.upcase
          end
        end
        expect(Loud.create(name: "ann").name).to eq("ANN")
      end

      it "keeps its own methods when a column has their name, and reads the column by name" do
        database.query("create table odd (id #{column(:id)}, hash varchar(9), save varchar(9), format varchar(9), " \
                       "#{database.dialect.quote('a b')} varchar(9))")
        odd = model("Odd", database) { self.table_name = "odd" }
        record = odd.create({ "hash" => "h", "save" => "s", "format" => "f", "a b" => "x" })
        expect([record["hash"], record["save"], record.format, record["a b"],
                record.hash]).to match(["h", "s", "f", "x", Integer])
      end

      it "is equal to the same row, and pattern matches" do
        user = User.create(name: "ann")
        expect(user).to eq(User.find(user.id))
        expect([user, User.find(user.id)].uniq.size).to eq(1)
        expect(User.new(name: "x")).not_to eq(User.new(name: "x"))
        user => { name: }
        expect(name).to eq("ann")
      end

      it "has attributes as a copy, assignable as a whole" do
        user = User.new(name: "ann")
        user.attributes["name"] = "bob"
        expect(user.name).to eq("ann")
        user.attributes = { "name" => "cyd" }
        expect([user.name, user.name?, user.age?, user[:name]]).to eq(["cyd", true, true, "cyd"])
      end

      it "declares types and defaults where the column says too little" do
        database.query("create table notes (id #{column(:id)}, settings text, tries integer)")
        note = model("Note", database) do
          attribute :settings, :json, default: -> { { "a" => 1 } }
          attribute :tries, default: 3
        end
        note.create
        expect([note.first.settings, note.first.tries]).to eq([{ "a" => 1 }, 3])
      end

      it "uses the table's own key when it is not called id" do
        database.query("create table places (code varchar(8) primary key, name text)")
        place = model("Place", database)
        place.create!(code: "de", name: "Germany")
        expect([place.primary_key, place.find("de").name, place.find("de").id]).to eq(%w[code Germany de])
      end

      it "lets set_primary_key say it" do
        database.query("create table things (number integer, name text)")
        thing = model("Thing", database) { set_primary_key "number" }
        thing.create(number: 4, name: "x")
        expect(thing.find(4).name).to eq("x")
      end
    end

    describe "validations" do
      before do
        model("Post", database) do
          self.table_name = "users"
          validates :name, presence: true, length: { maximum: 10 }
          validates :email, format: /\A\S+@\S+\z/, uniqueness: { case_sensitive: false }, allow_nil: true
          validates :age, numericality: { only_integer: true, greater_than: 0, less_than_or_equal_to: 150 },
                          allow_nil: true
          validates :active, inclusion: [true, false]
          validate { errors.add(:base, "no bobs") if name == "bob" }
        end
      end

      it "collects messages and refuses to save" do
        post = Post.new(name: "", email: "x", age: -1, active: nil)
        expect(post.save).to be(false)
        expect(post.errors.full_messages).to contain_exactly(
          "Name can't be blank", "Email is invalid", "Age must be greater than 0", "Active is not included in the list"
        )
        expect(post.errors[:name]).to eq(["can't be blank"])
        expect(post.new_record?).to be(true)
      end

      it "raises with the messages" do
        Post.create!(name: "bob")
      rescue AsyncRecord::RecordInvalid => error
        expect([error.message,
                error.record.errors.to_hash]).to eq(["Validation failed: no bobs", { base: ["no bobs"] }])
      else
        raise "it was saved"
      end

      it "checks uniqueness against the table, not against itself" do
        ann = Post.create!(name: "ann", email: "Ann@x")
        expect(Post.new(name: "a", email: "ann@X").valid?).to be(false)
        expect(ann.valid?).to be(true)
      end

      it "checks uniqueness within a scope" do
        scoped = model("Scoped", database) do
          self.table_name = "users"
          validates :name, uniqueness: { scope: :age }
        end
        scoped.create!(name: "ann", age: 1)
        expect([scoped.new(name: "ann", age: 1).valid?, scoped.new(name: "ann", age: 2).valid?]).to eq([false, true])
      end

      it "checks lengths" do
        sized = model("Sized", database) do
          self.table_name = "users"
          validates :name, length: 2..4
          validates :email, length: { is: 3, message: "needs three" }
        end
        record = sized.new(name: "a", email: "abcd")
        record.valid?
        expect(record.errors.full_messages).to eq(["Name is too short (minimum is 2 characters)", "Email needs three"])
      end

      it "checks on one action only, and under a condition" do
        picky = model("Picky", database) do
          self.table_name = "users"
          validates :email, presence: true, on: :update
          validates :age, presence: true, if: -> { name == "old" }
          validates :born, presence: true, unless: :young?
          define_method(:young?) { true }
          private :young?
        end
        record = picky.create!(name: "x")
        expect(record.update(name: "y")).to be(false)
        expect(picky.new(name: "old", age: nil).valid?).to be(false)
      end

      it "is inherited" do
        expect(model("SubPost", parent: Post).new.valid?).to be(false)
      end

      it "refuses checks and options that do not exist" do
        expect { Post.validates(:name, shape: true) }.to raise_error(ArgumentError, /no check :shape/)
        expect { Post.validates(:name, length: { around: 3 }) }.to raise_error(ArgumentError, /length takes no :around/)
      end

      it "can be skipped" do
        expect(Post.new(name: "bob").save(validate: false)).to be(true)
      end
    end

    describe "callbacks" do
      let(:log) { [] }

      def logging_model(&body)
        log = self.log
        model("Logged", database) do
          self.table_name = "users"
          %w[validation save create update destroy].each do |event|
            public_send("before_#{event}") { log << :"before_#{event}" }
            public_send("after_#{event}") { log << :"after_#{event}" }
          end
          after_commit { log << :after_commit }
          class_eval(&body) if body
        end
      end

      it "runs them in order" do
        user = logging_model.create(name: "ann")
        expect(log).to eq(%i[before_validation after_validation before_save before_create after_create after_save
                             after_commit])
        log.clear
        user.update(age: 1)
        expect(log).to eq(%i[before_validation after_validation before_save before_update after_update after_save
                             after_commit])
        log.clear
        user.destroy
        expect(log).to eq(%i[before_destroy after_destroy after_commit])
      end

      it "stops at throw :abort" do
        stubborn = logging_model { before_save { throw :abort } }
        expect(stubborn.create(name: "x").persisted?).to be(false)
        expect { stubborn.create!(name: "x") }.to raise_error(AsyncRecord::RecordNotSaved)
        expect(User.count).to eq(0)
      end

      it "stops a removal at throw :abort" do
        kept = model("Kept", database) do
          self.table_name = "users"
          before_destroy { throw :abort }
        end
        user = kept.create(name: "x")
        expect(user.destroy).to be(false)
        expect { user.destroy! }.to raise_error(AsyncRecord::RecordNotDestroyed)
        expect(User.count).to eq(1)
      end

      it "takes the record back when an after-callback raises" do
        failing = logging_model { after_save { raise "no" } }
        expect { failing.create(name: "x") }.to raise_error("no")
        expect([User.count, log.include?(:after_commit)]).to eq([0, false])
      end

      it "gives the record back what a rollback took" do
        user = User.create!(name: "old", age: 1)
        fresh = User.new(name: "new")
        AsyncRecord.transaction(database: database) do
          fresh.save!
          user.update!(age: 2)
          raise AsyncRecord::Rollback
        end
        expect([fresh.new_record?, fresh.id, fresh.changed?, user.age, user.changed?]).to eq([true, nil, true, 2, true])
        user.age = 3
        AsyncRecord.transaction(database: database) do
          AsyncRecord.transaction(database: database) do
            user.save!
            raise AsyncRecord::Rollback
          end
          expect([user.age, user.changes]).to eq([3, { "age" => [1, 3] }])
        end
        expect([fresh.save, user.save,
                User.order(:id).pluck(:name, :age)]).to eq([true, true, [["old", 3], ["new", 5]]])
      end

      it "runs after_commit only once the surrounding transaction is committed" do
        klass = logging_model
        AsyncRecord.transaction(database: database) do
          klass.create(name: "x")
          log << :inside
        end
        expect(log.last(2)).to eq(%i[inside after_commit])
        log.clear
        AsyncRecord.transaction(database: database) do
          klass.create(name: "y")
          raise AsyncRecord::Rollback
        end
        expect(log).not_to include(:after_commit)
      end

      it "calls private methods, under conditions" do
        klass = model("Stamped", database) do
          self.table_name = "users"
          before_save :shout, if: -> { name == "ann" }
          after_commit(on: :destroy) { self.class.const_get(:SEEN) << name }
          const_set(:SEEN, [])
          define_method(:shout) { self.name = name.upcase }
          private :shout
        end
        expect(%w[ann bob].map { |name| klass.create(name: name).name }).to eq(%w[ANN bob])
        klass.first.destroy
        expect(klass::SEEN).to eq(["ANN"])
      end
    end
  end
end
