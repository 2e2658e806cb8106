# frozen_string_literal: true

# Attributes with a fixed set of values, kept as numbers or as words.
RSpec.describe "An enum" do
  each_database do
    before do
      database.query("create table posts (id #{column(:id)}, title #{column(:string)}, state #{column(:integer)}, " \
                     "mood #{column(:string)})")
      model("Post", database) do
        enum :state, draft: 0, live: 1
        enum :mood, %w[happy sad], suffix: true, validate: { allow_nil: true }
      end
    end

    it "is a word in the program and a number in the database" do
      post = Post.create!(state: :live, title: "a")
      expect([post.state, Post.find(post.id).state, post.reload.live?, post.draft?])
        .to eq(["live", "live", true, false])
      expect(database.query("select state, mood from posts")).to eq([{ "state" => 1, "mood" => nil }])
    end

    it "keeps the words where the column is text" do
      Post.create!(mood: "sad")
      expect(database.query("select mood from posts")).to eq([{ "mood" => "sad" }])
      expect([Post.moods, Post.sad_mood.count, Post.first.sad_mood?])
        .to eq([{ "happy" => "happy", "sad" => "sad" }, 1, true])
    end

    it "is asked for by word, symbol, number, list and range of what is kept" do
      Post.insert_all!([{ state: :draft }, { state: "live" }, { state: 1 }])
      counts = [Post.where(state: "live"), Post.where(state: :live), Post.where(state: 1),
                Post.where(state: %i[draft live]), Post.where(state: ["live", nil]),
                Post.where.not(state: :live), Post.live, Post.not_live].map(&:count)
      expect(counts).to eq([2, 2, 2, 3, 2, 1, 2, 1])
      expect(Post.where(state: :draft).update_all(state: :live)).to eq(1)
      expect(Post.live.count).to eq(3)
    end

    it "is its word in plucked, grouped, returned and JSON values" do
      Post.create!(state: :live)
      expect([Post.pluck(:state), Post.pluck(:id, :state), Post.pick(:state)]).to eq([["live"], [[1, "live"]], "live"])
      expect([Post.group(:state).count, Post.maximum(:state)]).to eq([{ "live" => 1 }, "live"])
      expect(JSON.parse(Post.select(:id, :state).to_json_bytes)).to eq([{ "id" => 1, "state" => "live" }])
      expect(JSON.parse(Post.select(:id).to_json_bytes)).to eq([{ "id" => 1 }])
      expect(Post.first.to_json).to eq(Post.all.to_json_bytes[1..-2])
      expect([Post.stream.map(&:state), Post.order(:id).tap { |posts| posts.stream_json(@out = +"") }.to_json == @out])
        .to eq([["live"], true])
    end

    it "has its mapping, with words and symbols as keys" do
      expect(Post.states).to eq({ "draft" => 0, "live" => 1 })
      expect([Post.states[:live], Post.states["draft"], Post.states[:nonsense]]).to eq([1, 0, nil])
    end

    it "is set and stored by its method, in both styles" do
      post = Post.create!(state: :draft)
      expect([post.live!, post.reload.state]).to eq([true, "live"])
      expect(called_back { |done| post.draft! { |saved| done.call(saved) } }).to be(true)
    end

    it "refuses a word that is none, when assigned and when asked for" do
      expect { Post.new(state: "gone") }.to raise_error(ArgumentError, /"gone" is no state; there are draft, live/)
      expect { Post.where(state: "gone").to_a }.to raise_error(ArgumentError, /is no state/)
      expect { Post.find_by(state: 7) }.to raise_error(ArgumentError, /is no state/)
    end

    it "leaves the judgement to validation when told" do
      post = Post.new(mood: "angry")
      expect([post.valid?, post.errors[:mood], post.mood]).to eq([false, ["is not included in the list"], "angry"])
      expect(Post.new(mood: nil).valid?).to be(true)
    end

    it "keeps a value of the database that it does not know" do
      database.query("insert into posts (id, state) values (5, 9)")
      post = Post.find(5)
      expect([post.state, post.update(title: "x"), database.query("select state from posts")])
        .to eq([9, true, [{ "state" => 9 }]])
    end

    it "notices changes as words" do
      post = Post.create!(state: :draft)
      post.state = 1
      expect([post.changes, post.state_changed?(to: "live"), post.state_was])
        .to eq([{ "state" => %w[draft live] }, true, "draft"])
      post.state = :draft
      expect(post.changed?).to be(false)
    end

    it "has a default, from the declaration or the column" do
      database.query("create table tasks (id #{column(:id)}, state #{column(:integer)} default 1, " \
                     "kind #{column(:integer)})")
      task = model("Task", database) do
        enum :state, open: 0, done: 1
        enum :kind, %i[big small], default: :small
      end
      expect([task.new.state, task.new.kind, task.create!.reload.kind]).to eq(%w[done small small])
    end

    it "refuses names that are methods already" do
      expect { Post.enum(:other, count: 0) }.to raise_error(ArgumentError, /method count already; use prefix/)
      expect { Post.enum(:other, { changed: 0 }, scopes: false) }.to raise_error(ArgumentError, /method changed\?/)
      expect { Post.enum(:other, { "a b" => 0 }) }.to raise_error(ArgumentError, /cannot be a method/)
      expect { Post.enum(:other) }.to raise_error(ArgumentError, /needs its values/)
    end

    it "is inherited" do
      special = model("Special", parent: Post)
      expect([special.create!(state: :live).live?, special.live.count, special.states]).to eq([true, 1, Post.states])
    end
  end

  each_database(:postgresql) do
    it "is a type of the database" do
      database.query("create type mood as enum ('happy', 'sad')")
      database.query("create table people (id #{column(:id)}, mood mood)")
      person = model("Person", database) { enum :mood, %w[happy sad] }
      person.create!(mood: :sad)
      expect([person.sad.count, person.first.mood, person.where(mood: %w[sad happy]).count]).to eq([1, "sad", 1])
    end
  end
end
