# frozen_string_literal: true

# JSON with associations inside, made in Rust from rows.
RSpec.describe AsyncRecord::Relation, "as nested JSON" do
  each_database do
    before do
      blog
      written
    end

    def parsed(relation, **options)
      JSON.parse(relation.order(:id).to_json_bytes(**options))
    end

    it "puts what is preloaded inside, as records would show it" do
      tree = [:tags, :team, :parent, { user: { team: {} }, comments: { author: {} } }]
      shape = { include: [:tags, :team, :parent,
                          { user: { include: :team }, comments: { include: :author } }] }
      records = Post.order(:id).map { |post| post.as_json(shape) }
      expect(parsed(Post.preload(*tree))).to eq(JSON.parse(JSON.generate(records)))
    end

    it "shows lists as arrays, single records as objects or null" do
      posts = parsed(Post.select(:title).preload(:user, :comments))
      expect(posts.map { |post| post["user"]&.fetch("name") }).to eq(["ann", "bob", nil])
      expect(posts.map { |post| post["comments"].map { |comment| comment["body"] } }).to eq([%w[a b], ["c"], []])
      expect(posts.first.keys).to eq(%w[title user comments])
    end

    it "chooses columns and associations at every level" do
      comments = { only: :body, include: { author: { except: %i[id updated_at] } } }
      json = parsed(Post.all, only: %i[title], include: { comments: comments })
      expect(json.last(2)).to eq(
        [{ "title" => "second", "comments" => [{ "body" => "c", "author" => nil }] },
         { "title" => "third", "comments" => [] }]
      )
      expect(json.dig(0, "comments", 0))
        .to eq({ "body" => "a", "author" => { "team_id" => 1, "name" => "bob", "posts_count" => 0 } })
    end

    it "chooses columns of plain rows, of a selection too" do
      expect(parsed(Post.where(id: 1), only: %i[title id])).to eq([{ "title" => "first", "id" => 1 }])
      expect(parsed(Post.where(id: 1), except: %i[updated_at parent_id]))
        .to eq([{ "id" => 1, "user_id" => 1, "title" => "first" }])
      sized = Post.where(id: 1).select(:title, AsyncRecord.sql("length(title) as size"))
      expect(parsed(sized, except: :title)).to eq([{ "size" => 5 }])
      expect(parsed(sized.preload(:user), include: { user: { only: :name } }))
        .to eq([{ "title" => "first", "size" => 5, "user" => { "name" => "ann" } }])
    end

    it "lets include count instead of what is preloaded" do
      expect(parsed(Post.where(id: 1).preload(:comments), only: :id, include: :user).first.keys).to eq(%w[id user])
      expect(parsed(Post.where(id: 1).preload(:comments), only: :id, include: []).first.keys).to eq(%w[id])
      expect(parsed(Post.where(id: 1).preload(:comments), only: :id).first.keys).to eq(%w[id comments])
    end

    it "keeps the order of the association, and of links where there is none" do
      names = ->(name) { parsed(Post.where(id: 1).preload(name)).first[name.to_s].map { |tag| tag["name"] } }
      expect([names[:sorted_tags], names[:tags]]).to eq([%w[ruby sql], %w[sql ruby]])
      live = parsed(Post.preload(:live_comments)).map { |post| post["live_comments"].map { |comment| comment["body"] } }
      expect(live).to eq([["b"], ["c"], []])
    end

    it "asks once for each association and level, and makes no records" do
      allow(Comment).to receive(:instantiate_all).and_call_original
      read = tables_read { Post.preload(:user, comments: :author).to_json_bytes }
      expect(read.first).to eq("posts")
      expect(read.drop(1)).to contain_exactly("users", "comments", "users")
      expect(Comment).not_to have_received(:instantiate_all)
    end

    it "asks nothing for keys that are none" do
      expect(tables_read do
               expect(parsed(Post.where(id: 3).preload(user: :team)).first["user"]).to be_nil
             end).to eq(["posts"])
      none = Post.where(id: 99).preload(:user, :tags)
      expect(tables_read { expect(none.to_json_bytes).to eq("[]") }).to eq(["posts"])
      expect(queries { expect(Post.none.preload(:user).to_json_bytes).to eq("[]") }).to be_empty
    end

    it "puts long lists of keys together again" do
      User.insert_all(Array.new(2500) { |index| { id: 10_000 + index, name: "u" } })
      Comment.insert_all(Array.new(2500) { |index| { post_id: 1, user_id: 10_000 + index, body: "many" } })
      comments = parsed(Comment.where(body: "many").preload(:author))
      expect(comments.map { |comment| comment.dig("author", "id") }).to eq((10_000...12_500).to_a)
    end

    it "is what to_json, JSON.generate and as_json give" do
      relation = Post.where(id: 1).preload(:user)
      expect([relation.to_json, JSON.generate(relation)]).to all(eq(relation.to_json_bytes))
      expect(relation.as_json).to eq(JSON.parse(relation.to_json_bytes))
      expect(Post.where(id: 1).as_json(only: :title)).to eq([{ "title" => "first" }])
    end

    it "comes by callback and by promise, and from within a transaction" do
      relation = Post.where(id: 1).preload(:comments)
      expect(called_back do |done|
               relation.to_json_bytes do |json, error|
                 done.call(json, error)
               end
             end).to eq([relation.to_json_bytes, nil])
      expect(relation.async.to_json_bytes.await).to eq(relation.to_json_bytes)
      transaction = AsyncRecord.begin(database: Post.database)
      Comment.using(transaction).where(id: 1).update_all(body: "inside")
      inside = relation.using(transaction).to_json_bytes
      transaction.rollback
      expect([inside.include?("inside"), relation.to_json_bytes.include?("inside")]).to eq([true, false])
    end

    it "names what it does not know before anything is asked" do
      Post.columns
      expect(queries do
        expect { Post.to_json_bytes(only: :titel) }.to raise_error(AsyncRecord::UnknownColumn, /did you mean "title"/)
        expect { Post.to_json_bytes(include: :comment) }.to raise_error(AsyncRecord::UnknownAssociation, /:comments/)
        expect do
          Post.to_json_bytes(include: { comments: :author })
        end.to raise_error(ArgumentError, /include: \{ comments:/)
        expect do
          Post.to_json_bytes(with: :comments)
        end.to raise_error(ArgumentError, /methods: and include:, not :with/)
      end).to be_empty
    end

    describe "of records" do
      it "shows what it is told, and loads what that needs" do
        post = Post.find(1)
        expect(post.as_json(only: :title, include: { user: { only: :name }, comments: { only: %i[body state] } }))
          .to eq({ "title" => "first", "user" => { "name" => "ann" },
                   "comments" => [{ "body" => "a", "state" => 0 }, { "body" => "b", "state" => 1 }] })
        expect(JSON.parse(post.to_json(only: :id,
                                       include: :team))).to eq({ "id" => 1,
                                                                 "team" => { "id" => 1, "name" => "red" } })
        expect(JSON.parse(JSON.generate(post)).keys).to eq(Post.column_names)
      end

      it "shows a collection from its list once that is loaded" do
        post = Post.find(1)
        asked = post.comments.to_json_bytes(only: :body)
        post.comments.load
        post.comments.build(body: "new")
        expect(queries do
                 expect(post.comments.to_json_bytes(only: :body)).to eq(asked.sub("]", ',{"body":"new"}]'))
               end).to be_empty
      end
    end
  end
end
