# frozen_string_literal: true

# What a model says about its attributes beyond its table, and what a record does with its values.
RSpec.describe "Attributes" do
  each_database do
    before do
      database.query("create table users (id #{column(:id)}, name #{column(:string)}, email #{column(:string)}, " \
                     "settings #{column(:json)}, cents #{column(:integer)}, active #{column(:boolean)}, " \
                     "age #{column(:integer)}, created_at #{column(:time)}, updated_at #{column(:time)})")
      model("User", database)
    end

    describe "changed in place" do
      it "are noticed: text" do
        user = User.find(User.create!(name: "ann").id)
        user.name << "a"
        expect([user.changed?, user.changes, user.name_was]).to eq([true, { "name" => %w[ann anna] }, "ann"])
        expect([user.save, User.pick(:name), user.changed?]).to eq([true, "anna", false])
        user.name << "!"
        expect([user.changes, user.save, User.pick(:name)]).to eq([{ "name" => ["anna", "anna!"] }, true, "anna!"])
      end

      it "are noticed: documents, at any depth" do
        user = User.create!(name: "x", settings: { tags: ["a"] })
        user.settings["tags"] << "b"
        expect(user.changes).to eq({ "settings" => [{ "tags" => ["a"] }, { "tags" => %w[a b] }] })
        user.save!
        found = User.find(user.id)
        found.settings["tags"].clear
        expect([found.changed, found.save, User.pick(:settings)]).to eq([["settings"], true, { "tags" => [] }])
      end

      it "are the old value again after restoring" do
        user = User.find(User.create!(name: "ann", settings: { "a" => 1 }).id)
        user.name << "x"
        user.settings["a"] = 2
        user.restore_attributes
        expect([user.name, user.settings, user.changed?]).to eq(["ann", { "a" => 1 }, false])
      end

      it "count from the value before, if assigned later" do
        user = User.find(User.create!(name: "ann").id)
        user.name << "x"
        user.name = "ann"
        expect(user.changed?).to be(false)
        user.name = "bob"
        expect(user.name_was).to eq("ann")
      end

      it "do not reach the caller's objects, nor other records'" do
        tags = { "tags" => ["a"] }
        user = User.create!(name: "x", settings: tags)
        tags["tags"] << "b"
        expect([user.settings, user.changed?]).to eq([{ "tags" => ["a"] }, false])
      end
    end

    describe "changed" do
      it "are told in every way" do
        user = User.create!(name: "ann", age: 1)
        user.name = "bob"
        expect([user.name_changed?, user.name_changed?(from: "ann", to: "bob"), user.name_changed?(to: "cyd"),
                user.name_change, user.changed_attributes]).to eq([true, true, false, %w[ann bob], { "name" => "ann" }])
        user.save!
        expect([user.saved_change_to_name?, user.saved_change_to_name?(to: "bob"), user.saved_change_to_name,
                user.saved_changes?, user.name_before_last_save, user.age_before_last_save,
                user.saved_change_to_age?]).to eq([true, true, %w[ann bob], true, "ann", 1, false])
      end

      it "can be taken back one by one" do
        user = User.create!(name: "ann", age: 1)
        user.attributes = { name: "bob", age: 2 }
        user.restore_name!
        expect(user.changes).to eq({ "age" => [1, 2] })
      end

      it "are forgotten with the values kept" do
        user = User.new(name: "ann")
        user.clear_changes_information
        expect([user.changed?, user.name]).to eq([false, "ann"])
      end

      it "refuse what from: and to: do not say" do
        expect { User.new(name: "x").name_changed?(was: 1) }.to raise_error(ArgumentError, /not was:/)
      end
    end

    describe "of a type of the program's own" do
      let(:money) do
        Struct.new(:amount) do
          def self.cast(value)
            value.is_a?(self) ? value : new(Rational(value.to_s))
          end

          def self.load(value)
            new(value / 100r)
          end

          def self.dump(money)
            (money.amount * 100).to_i
          end
        end
      end

      before do
        type = money
        model("Item", database) do
          self.table_name = "users"
          attribute :cents, type
        end
      end

      it "are cast, stored, loaded, asked for and compared by it" do
        item = Item.create!(cents: "12.50")
        expect([item.cents, database.query("select cents from users"), Item.find(item.id).cents])
          .to eq([money.new(25/2r), [{ "cents" => 1250 }], money.new(25/2r)])
        expect([Item.where(cents: "12.5").count, Item.where(cents: [money.new(12.5r), "1"]).count,
                Item.where(cents: "12".."13").count, Item.find_by(cents: "12.51")]).to eq([1, 1, 1, nil])
        expect([Item.pluck(:cents), Item.maximum(:cents), Item.sum(:cents)])
          .to eq([[money.new(25/2r)], money.new(25/2r), 1250])
      end

      it "are noticed when changed in place" do
        item = Item.find(Item.create!(cents: "1").id)
        expect(item.tap(&:cents).changed?).to be(false)
        item.cents.amount = 2r
        expect([item.changed, item.save, database.query("select cents from users")])
          .to eq([["cents"], true, [{ "cents" => 200 }]])
      end

      it "have a registered name" do
        AsyncRecord::Type.register(:spec_money, money)
        named = model("Named", database) do
          self.table_name = "users"
          attribute :cents, :spec_money, default: "3"
        end
        expect(named.new.cents).to eq(money.new(3r))
        expect { named.attribute(:age, :nonsense) }.to raise_error(ArgumentError, /no type :nonsense/)
        expect { AsyncRecord::Type.register(:bad, Object.new) }.to raise_error(ArgumentError, /cast/)
      end
    end

    it "have other names, for records and for conditions" do
      person = model("Person", database) do
        self.table_name = "users"
        alias_attribute :title, :name
      end
      ann = person.create!(title: "ann")
      expect([ann.title, ann.name, ann[:title], ann.title?, person.where(title: "ann").count, person.pluck(:title),
              person.order(title: :desc).first.title]).to eq(["ann", "ann", "ann", true, 1, ["ann"], "ann"])
      ann.title = "bob"
      expect([ann.title_changed?, ann.changes, ann.attribute_was(:title)])
        .to eq([true, { "name" => %w[ann bob] }, "ann"])
      person.update_all(title: "cyd")
      person.insert_all!([{ title: "dan" }])
      expect(person.order(:id).map(&:name)).to eq(%w[cyd dan])
    end

    it "are cleaned when assigned and when asked for, not when read" do
      clean = model("Clean", database) do
        self.table_name = "users"
        normalizes :email, with: ->(email) { email.strip.downcase }
      end
      clean.create!(email: "  Ann@X ")
      expect([clean.first.email, clean.find_by(email: " ANN@x").class, clean.where(email: [" ANN@X"]).count])
        .to eq(["ann@x", clean, 1])
      database.query("update users set email = ' RAW '")
      expect([clean.first.email, clean.new(email: nil).email]).to eq([" RAW ", nil])
    end

    it "are parts of a document" do
      stored = model("Stored", database) do
        self.table_name = "users"
        store_accessor :settings, :theme, :language
        store_accessor :settings, :size, prefix: :ui
      end
      user = stored.create!(theme: "dark", ui_size: 3)
      expect([user.reload.settings, user.theme, user.language, user.ui_size])
        .to eq([{ "theme" => "dark", "size" => 3 }, "dark", nil, 3])
      user.theme = "light"
      expect([user.changed, user.theme_changed?, user.theme_was, user.language_changed?])
        .to eq([["settings"], true, "dark", false])
      user.save!
      expect(stored.first.theme).to eq("light")
      expect { stored.store_accessor(:settings, :save) }.to raise_error(ArgumentError, /method save already/)
      expect { stored.store_accessor(:name, :part) && stored.new(name: "x").part }
        .to raise_error(ArgumentError, /no document/)
    end

    it "live without a column as long as the record" do
      form = model("Form", database) do
        self.table_name = "users"
        attribute :terms, :boolean
        attribute :note, :string, default: "none"
      end
      user = form.new(name: "x", terms: "1")
      expect([user.terms, user.terms?, user.note, user.save, form.first.terms]).to eq([true, true, "none", true, nil])
      expect(form.columns.map(&:name)).not_to include("terms")
      expect { form.where(terms: true).to_a }.to raise_error(AsyncRecord::UnknownColumn)
    end

    it "are written once when readonly" do
      fixed = model("Fixed", database) do
        self.table_name = "users"
        attr_readonly :email
      end
      user = fixed.create!(email: "a")
      expect { user.email = "b" }.to raise_error(AsyncRecord::ReadonlyAttribute, /never again/)
      expect { user.update(email: "b") }.to raise_error(AsyncRecord::ReadonlyAttribute)
      expect { user.update_columns(email: "b") }.to raise_error(AsyncRecord::ReadonlyAttribute)
      user.email << "x"
      expect([user.update(name: "n"), fixed.pick(:email)]).to eq([true, "a"])
    end

    it "show what was assigned before the cast" do
      user = User.new(age: "12abc", name: "x")
      expect([user.age, user.read_attribute_before_type_cast(:age), user.read_attribute_before_type_cast("name")])
        .to eq([12, "12abc", "x"])
    end

    it "refuse everything that is no attribute, whatever it looks like" do
      ["nonsense", "attributes; x", "=", "[]", "==", "", "new_record", "instance_variable_set"].each do |name|
        expect { User.new(name => 1) }.to raise_error(AsyncRecord::UnknownAttribute), name
      end
      expect { User.new.assign_attributes("name") }.to raise_error(ArgumentError, /are a Hash/)
      expect { User.new.assign_attributes(nil) }.to raise_error(ArgumentError, /are a Hash/)
    end

    it "keep times only when asked" do
      quiet = model("Quiet", database) do
        self.table_name = "users"
        self.record_timestamps = false
      end
      expect(quiet.create!(name: "x").created_at).to be_nil
      user = User.create!(name: "a", updated_at: Time.utc(2001))
      user.name = "b"
      user.save!(touch: false)
      expect(user.reload.updated_at).to eq(Time.utc(2001))
    end
  end

  describe "of a record" do
    let(:database) { fresh_database(:sqlite) }

    before do
      database.query("create table users (id integer primary key, name text, password_digest text, api_token text, " \
                     "meta json, balance decimal(10, 2), born datetime, data blob, created_at datetime, " \
                     "lock_version integer)")
      model("User", database)
    end

    it "are copied to a new record" do
      user = User.create!(name: "ann", meta: { "a" => [1] })
      copy = user.dup
      copy.meta["a"] << 2
      copy.name << "!"
      expect([copy.new_record?, copy.id, copy.created_at, user.meta, user.name])
        .to eq([true, nil, nil, { "a" => [1] }, "ann"])
      expect([copy.save!, copy.id, copy.reload.name, copy.lock_version, User.count]).to eq([true, 2, "ann!", 0, 2])
      expect(user.changed?).to be(false)
    end

    it "hide secrets from inspect" do
      user = User.new(name: "ann", password_digest: "abc", api_token: nil)
      expect(user.inspect)
        .to include('name: "ann"', "password_digest: [FILTERED]", "api_token: nil").and start_with("#<User ")
      User.filter_attributes = [:name]
      expect(user.inspect).to include("name: [FILTERED]", 'password_digest: "abc"')
    end

    it "are JSON by choice" do
      user = User.new(name: "ann", balance: "1.50", born: Time.utc(2001, 2, 3), data: "\xff".b)
      user.define_singleton_method(:shout) { name.upcase }
      expect(user.as_json(only: %i[name balance], methods: :shout))
        .to eq({ "name" => "ann", "balance" => "1.5", "shout" => "ANN" })
      expect(user.as_json(except: [:meta]).keys).not_to include("meta")
      expect(user.as_json({ only: :born })).to eq({ "born" => "2001-02-03T00:00:00.000000Z" })
      expect([user.to_json(only: :data), JSON.generate([user]).size > 50]).to eq(['{"data":"/w=="}', true])
    end

    it "are frozen with the record" do
      user = User.find(User.create!(name: "ann").id).freeze
      expect { user.name = "x" }.to raise_error(FrozenError)
      expect([user.name, user.changed?, user.frozen?, user.id]).to eq(["ann", false, true, 1])
    end

    it "survive Marshal and YAML with their changes" do
      require "yaml"
      user = User.find(User.create!(name: "ann").id)
      user.name = "bob"
      [Marshal.load(Marshal.dump(user)), YAML.unsafe_load(YAML.dump(user))].each do |copy|
        expect([copy, copy.changes, copy.new_record?, copy.name]).to eq([user, { "name" => %w[ann bob] }, false, "bob"])
        copy.save!
        expect(User.pick(:name)).to eq("bob")
        User.update_all(name: "ann", lock_version: 0)
      end
      expect(Marshal.load(Marshal.dump(User.new(name: "x"))).save!).to be(true)
    end

    it "make the key of a URL" do
      expect([User.new.to_param, User.create!.to_param]).to eq([nil, "1"])
    end

    it "are counted, turned and added to in the record" do
      database.query("create table hits (id integer primary key, views integer, seen boolean)")
      hit = model("Hit", database).create!
      expect([hit.increment(:views).views, hit.decrement(:views, 3).views, hit.toggle(:seen).seen, hit.changed.sort])
        .to eq([1, -2, true, %w[seen views]])
      expect([hit.toggle!(:seen), hit.reload.seen]).to eq([true, false])
    end

    it "are reached by name when records have a method of that name" do
      names = %w[hash class save id? new_record errors object_id method send freeze dup changed attributes changes
                 values table_name destroy update errors_was name_was]
      columns = names.map { |name| %("#{name}" text) }.join(", ")
      database.query("create table odd (id integer primary key, name text, #{columns})")
      odd = model("Odd", database) { self.table_name = "odd" }
      record = odd.create!(names.to_h { |name| [name, "v-#{name}"] }.merge("name" => "n"))
      expect(names.map { |name| odd.first[name] }).to eq(names.map { |name| "v-#{name}" })
      expect([record.class, record.save, record.hash.class, record.changed?, record.name_was, odd.count])
        .to eq([odd, true, Integer, false, "v-name_was", 1])
    end
  end
end
