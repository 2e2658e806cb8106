# frozen_string_literal: true

# Writing: building, saving together, collections, what goes with a record, counters and timestamps of parents.
RSpec.describe AsyncRecord::Base, "writing associations" do
  each_database do
    before { blog }

    let(:ann) { User.create!(name: "ann") }

    describe "saving" do
      it "saves what was built below, and new parents, in one transaction" do
        post = Post.new(title: "t", user: User.new(name: "ann"))
        post.comments.build(body: "a")
        post.user.build_profile(bio: "x")
        post.tags << Tag.new(name: "ruby")
        statements = queries { expect(post.save).to be(true) }
        expect(statements.grep(/INSERT/).map { |sql| sql[/INTO "(\w+)"/, 1] })
          .to eq(%w[users profiles posts comments tags taggings])
        expect([Post.first.user.name, User.first.profile.bio, Post.first.comments.size, Post.first.tags.first.name])
          .to eq(["ann", "x", 1, "ruby"])
        expect([post.comments.first.post, post.comments.loaded?]).to eq([post, true])
      end

      it "saves the parent when a child is saved" do
        comment = Comment.new(body: "a", post: Post.new(title: "t"))
        expect([comment.save, comment.post.persisted?, comment.post_id]).to eq([true, true, Post.first.id])
        child = Post.new(title: "p").comments.build(body: "b")
        expect([child.save, child.post.title, Comment.count]).to eq([true, "p", 2])
      end

      it "saves what was built for a record that is there" do
        post = Post.create!(title: "t")
        post.comments.build(body: "a")
        expect(Comment.count).to eq(0)
        expect([post.save, Comment.count, post.comments.size]).to eq([true, 1, 1])
        expect(queries { post.save }).to be_empty
      end

      it "saves nothing if a part is invalid, and says which" do
        Comment.validates :body, presence: true
        post = Post.new(title: "t")
        post.comments.build
        expect([post.save, post.errors.full_messages, Post.count]).to eq([false, ["Comments is invalid"], 0])
        expect { post.save! }.to raise_error(AsyncRecord::RecordInvalid, /Comments is invalid/)
        post.comments.first.body = "b"
        expect([post.save, Comment.count]).to eq([true, 1])
      end

      it "takes all back if a part cannot be saved, and can try again" do
        Comment.before_save { throw :abort if body == "no" }
        post = Post.new(title: "t")
        post.comments.build([{ body: "yes" }, { body: "no" }])
        expect(post.save).to be(false)
        expect([Post.count, Comment.count, post.new_record?,
                post.comments.map(&:new_record?)]).to eq([0, 0, true, [true, true]])
        post.comments.last.body = "maybe"
        expect([post.save, Post.count,
                Comment.pluck(:body, :post_id)]).to eq([true, 1, [["yes", post.id], ["maybe", post.id]]])
      end

      it "leaves the rest of an open transaction as it was" do
        Comment.before_save { throw :abort }
        AsyncRecord.transaction(database: Post.database) do
          Tag.create!(name: "kept")
          post = Post.new(title: "t")
          post.comments.build(body: "a")
          expect(post.save).to be(false)
        end
        expect([Tag.count, Post.count]).to eq([1, 0])
      end

      it "takes records that are there for a new one" do
        comment = Post.create!(title: "a").comments.create!(body: "x")
        post = Post.create!(title: "b", comments: [comment])
        expect(comment.reload.post_id).to eq(post.id)
      end

      it "costs nothing more where nothing is new" do
        post = Post.create!(title: "t", user: ann)
        post.comments.to_a
        expect(queries { post.update(title: "u") }.size).to eq(1)
      end

      it "validates records that point at each other once" do
        Post.has_one :first_comment, class_name: "Comment"
        post = Post.new(title: "t")
        post.build_first_comment(body: "a")
        expect([post.valid?, post.save, Comment.first.post_id]).to eq([true, true, post.id])
      end

      it "works by callback and within a given transaction" do
        post = Post.new(title: "t")
        post.comments.build(body: "a")
        expect(called_back { |done| post.save { |saved, error| done.call(saved, error) } }).to eq([true, nil])
        transaction = AsyncRecord.begin(database: Post.database)
        other = Post.new(title: "u")
        other.comments.build(body: "b")
        other.save(using: transaction)
        transaction.rollback
        expect([Post.count, Comment.count]).to eq([1, 1])
      end
    end

    describe "belongs_to" do
      it "must lead somewhere, unless it is optional" do
        comment = Comment.new(body: "a")
        expect([comment.valid?, comment.errors.full_messages]).to eq([false, ["Post must exist"]])
        expect(Comment.new(body: "a", post_id: 99).valid?).to be(false)
        expect(Post.new(title: "t").valid?).to be(true)
        Comment.belongs_to :post, required: false
        expect(Comment.new.valid?).to be(true)
      end

      it "is looked at only when its key is new" do
        comment = Post.create!(title: "t").comments.create!(body: "a")
        found = Comment.find(comment.id)
        expect(queries { found.update!(body: "b") }.size).to eq(1)
        expect(found.update(post_id: 99)).to be(false)
      end

      it "sets the foreign key when assigned" do
        post = Post.new(user: ann)
        expect([post.user_id, post.user]).to eq([ann.id, ann])
        post.user = nil
        expect([post.user_id, post.user]).to eq([nil, nil])
        expect do
          post.user = Tag.new
        end.to raise_error(AsyncRecord::AssociationMismatch, /Post#user takes a User, not a Tag/)
      end

      it "builds and creates" do
        post = Post.new(title: "t")
        expect(post.build_user(name: "x").new_record?).to be(true)
        expect([post.create_user(name: "y").id, post.user_id]).to eq([User.first.id, User.first.id])
        User.validates :name, presence: true
        expect { post.create_user!(name: "") }.to raise_error(AsyncRecord::RecordInvalid)
        expect(called_back { |done| post.create_user(name: "z") { |user| done.call(user.name) } }).to eq("z")
      end
    end

    describe "has_one" do
      it "is stored when assigned, and lets go of the one before" do
        old = ann.create_profile(bio: "old")
        ann.profile = Profile.new(bio: "new")
        expect([Profile.find_by(user_id: ann.id).bio, old.reload.user_id]).to eq(["new", nil])
        ann.profile = nil
        expect([ann.profile, ann.reload.profile]).to eq([nil, nil])
      end

      it "deletes or destroys the one before if it says so" do
        User.has_one :profile, dependent: :destroy
        gone = []
        Profile.after_destroy { gone << bio }
        ann.create_profile(bio: "old")
        ann.build_profile(bio: "new")
        expect([Profile.pluck(:bio), ann.save, Profile.pluck(:bio), gone]).to eq([["old"], true, ["new"], ["old"]])
      end

      it "cannot be created before its owner" do
        expect { User.new.create_profile(bio: "x") }.to raise_error(AsyncRecord::RecordNotSaved, /before its owner/)
      end

      it "cannot be assigned through others" do
        expect do
          Post.create!(title: "t").team = Team.new
        end.to raise_error(AsyncRecord::AssociationError, /through others/)
      end
    end

    describe "a collection" do
      let(:post) { Post.create!(title: "t") }

      it "builds, creates and adds" do
        built = post.comments.build(body: "a") { |comment| comment.state = 3 }
        expect([built.post, built.post_id, built.state, built.new_record?]).to eq([post, post.id, 3, true])
        expect(post.comments.create(body: "b").persisted?).to be(true)
        expect(post.comments.create!([{ body: "c" }, { body: "d" }]).size).to eq(2)
        expect((post.comments << Comment.new(body: "e")).map(&:body)).to contain_exactly("a", "b", "c", "d", "e")
        expect(post.comments.push(Comment.new(body: "f"), Comment.new(body: "g")).size).to eq(7)
        expect(Comment.where(post_id: post.id).count).to eq(6)
      end

      it "says what it cannot add" do
        Comment.validates :body, presence: true
        expect(post.comments << Comment.new).to be(false)
        expect(post.comments.push(Comment.new(body: "x"), Comment.new)).to be(false)
        expect(Comment.count).to eq(0)
        expect { post.comments.create!(body: "") }.to raise_error(AsyncRecord::RecordInvalid)
        expect { post.comments << Tag.new }.to raise_error(AsyncRecord::AssociationMismatch)
        expect { Post.new.comments.create(body: "x") }.to raise_error(AsyncRecord::RecordNotSaved, /build works now/)
      end

      it "is a relation: narrowed, ordered, by scopes, by class methods, in subqueries" do
        Comment.scope(:live) { where(state: 1) }
        def Comment.words = order(:id).pluck(:body)
        post.comments.create!([{ body: "a", state: 1 }, { body: "b" }])
        Post.create!(title: "u").comments.create!(body: "c", state: 1)
        expect([post.comments.live.to_a.size, post.comments.words, post.comments.where(state: 0).pick(:body)])
          .to eq([1, %w[a b], "b"])
        expect(Comment.where(id: post.comments.live).count).to eq(1)
        expect([post.comments.maximum(:state), post.comments.find_by(body: "b").state]).to eq([1, 0])
        expect { post.comments.find(3) }.to raise_error(AsyncRecord::RecordNotFound)
      end

      it "makes records for its owner also when narrowed" do
        made = post.comments.where(state: 0).create!(body: "x")
        found = post.comments.find_or_create_by(body: "y")
        expect([made.post, found.post_id,
                post.comments.find_or_initialize_by(body: "z").post_id]).to eq([post, post.id, post.id])
        expect(Comment.where(post_id: post.id).count).to eq(2)
      end

      it "counts, tests and finds in the database until it is loaded, then in the list" do
        post.comments.create!([{ body: "a" }, { body: "b" }])
        fresh = Post.find(post.id)
        first = Comment.first
        asked = queries do
          comments = fresh.comments
          expect([comments.size, comments.count, comments.any?, comments.empty?, comments.none?,
                  comments.include?(first), comments.exists?(body: "a"), comments.first.body, fresh.comment_ids])
            .to eq([2, 2, true, false, false, true, true, "a", [1, 2]])
        end
        expect([asked.size, fresh.comments.loaded?]).to eq([9, false])
        fresh.comments.load
        expect(queries do
          comments = fresh.comments
          expect([comments.size, comments.length, comments.any?, comments.empty?, comments.none?,
                  comments.include?(first), comments.first, comments.last.body, comments.take(1), comments[1].body,
                  fresh.comment_ids])
            .to eq([2, 2, true, false, false, true, first, "b", [first], "b", [1, 2]])
        end).to be_empty
        expect(fresh.comments).to eq(Comment.order(:id).to_a)
      end

      it "knows what was built, of a new record without asking" do
        fresh = Post.new
        expect(queries do
          expect([fresh.comments.size, fresh.comments.any?, fresh.comments.to_a,
                  fresh.comment_ids]).to eq([0, false, [], []])
          fresh.comments.build(body: "a")
          expect([fresh.comments.size, fresh.comments.empty?, fresh.comments.map(&:body)]).to eq([1, false, ["a"]])
        end).to be_empty
        expect(fresh.comments.where(body: "a").count).to eq(0)
        Comment.create!(body: "orphan", post: post)
        Comment.update_all(post_id: nil)
        expect([fresh.comments.where(body: "orphan").to_a, fresh.comments.count]).to eq([[], 0])
      end

      it "narrows by the owner's key as it is when asked" do
        fresh = Post.new(title: "t")
        comments = fresh.comments
        fresh.save!
        Comment.create!(post: fresh, body: "a")
        expect([comments.count, comments.where(body: "a").count]).to eq([1, 1])
      end

      it "takes the foreign key from what is deleted" do
        a, b = post.comments.create!([{ body: "a" }, { body: "b" }])
        expect(post.comments.delete(a)).to eq([a])
        expect([a.post_id, a.changed?, a.reload.post_id, post.comments.to_a]).to eq([nil, false, nil, [b]])
        expect(post.comments.delete(b.id)).to eq([b])
        expect { post.comments.delete(a.id) }.to raise_error(AsyncRecord::RecordNotFound, /Post#comments has no/)
      end

      it "deletes rows where dependent says so, destroys when told" do
        Post.has_many :comments, dependent: :delete_all
        gone = []
        Comment.after_destroy { gone << body }
        a, b, = post.comments.create!([{ body: "a" }, { body: "b" }, { body: "c" }])
        post.comments.delete(a)
        post.comments.destroy(b)
        expect([Comment.pluck(:body), gone]).to eq([["c"], ["b"]])
        expect([post.comments.clear.to_a, Comment.count]).to eq([[], 0])
      end

      it "is replaced as a whole" do
        Post.has_many :comments, dependent: :delete_all
        a, = post.comments.create!([{ body: "a" }, { body: "b" }])
        post.comments = [a, Comment.new(body: "c")]
        expect([Comment.pluck(:body), post.comments.map(&:body)]).to eq([%w[a c], %w[a c]])
        post.comment_ids = [a.id.to_s, ""]
        expect([Comment.pluck(:body), post.comments.to_a]).to eq([["a"], [a]])
      end

      it "changes rows in bulk and then loads anew" do
        post.comments.create!([{ body: "a" }, { body: "b" }])
        post.comments.load
        post.comments.update_all(state: 7)
        expect(post.comments.map(&:state)).to eq([7, 7])
        expect([post.comments.delete_all, post.comments.to_a]).to eq([2, []])
      end

      it "writes the links of a list through others" do
        tag = Tag.create!(name: "a")
        post.tags << tag
        post.tags.create!(name: "b")
        expect([post.tags.map(&:name), Tagging.count, post.tag_ids]).to eq([%w[a b], 2, [1, 2]])
        post.tags.delete(tag)
        expect([post.tags.map(&:name), Tagging.count, Tag.count]).to eq([["b"], 1, 2])
        post.tags = [tag]
        expect([Post.find(post.id).tags.to_a, Tagging.count]).to eq([[tag], 1])
        post.tags.build(name: "c")
        expect([post.save, Post.find(post.id).tags.map(&:name)]).to eq([true, %w[a c]])
      end

      it "refuses to write where it would have to guess" do
        expect do
          Team.create!(name: "x").posts << Post.new
        end.to raise_error(AsyncRecord::AssociationError, /cannot be written/)
      end

      it "works by callback and by promise" do
        made = called_back { |done| post.comments.create(body: "a") { |comment, error| done.call(comment, error) } }
        expect([made.first.post_id, made.last]).to eq([post.id, nil])
        expect(called_back { |done| post.comments.size { |size| done.call(size) } }).to eq(1)
        expect(called_back { |done| post.comments.delete(made.first) { |gone| done.call(gone.size) } }).to eq(1)
        expect(post.comments.async.count.await).to eq(0)
      end
    end

    describe "destroying" do
      let(:post) { Post.create!(title: "t").tap { |post| post.comments.create!([{ body: "a" }, { body: "b" }]) } }

      it "destroys, deletes or lets go of what depends, in one transaction" do
        gone = []
        Comment.after_destroy { gone << body }
        post
        Post.has_many :comments, dependent: :nullify
        expect(Post.create!(title: "x").destroy.destroyed?).to be(true)
        expect([post.destroy.destroyed?, Comment.pluck(:post_id)]).to eq([true, [nil, nil]])
        Comment.update_all(post_id: Post.create!(title: "u").id)
        Post.has_many :comments, dependent: :destroy
        statements = queries { Post.first.destroy }
        expect([gone, Comment.count, statements.grep(/DELETE/).size]).to eq([%w[a b], 0, 3])
      end

      it "deletes in one statement" do
        Post.has_many :comments, dependent: :delete_all
        expect(queries { post.destroy }.grep(/DELETE/).size).to eq(2)
        expect(Comment.count).to eq(0)
      end

      it "is forbidden while something depends" do
        Post.has_many :comments, dependent: :restrict_with_error
        expect([post.destroy, post.errors.full_messages, post.destroyed?])
          .to eq([false, ["Cannot delete record because of dependent records: comments"], false])
        Post.has_many :comments, dependent: :restrict_with_exception
        expect { post.destroy }.to raise_error(AsyncRecord::DeleteRestrictionError, /comments belong to it/)
        post.comments.delete_all
        expect(post.destroy.destroyed?).to be(true)
      end

      it "takes all back when one of them refuses" do
        Comment.before_destroy { throw :abort if body == "b" }
        Post.has_many :comments, dependent: :destroy
        expect([post.destroy, Post.count, Comment.count, post.destroyed?]).to eq([false, 1, 2, false])
      end

      it "asks nothing of what depends when rows are deleted" do
        Post.has_many :comments, dependent: :destroy
        post.delete
        expect(Comment.count).to eq(2)
      end

      it "treats a has_one the same" do
        { destroy: 0, delete_all: 0, nullify: 1 }.each do |dependent, left|
          Profile.delete_all
          User.has_one :profile, dependent: dependent
          user = User.create!(name: "x")
          user.create_profile(bio: "y")
          user.destroy
          expect([Profile.count, Profile.pick(:user_id)]).to eq([left, nil])
        end
        User.has_one :profile, dependent: :restrict_with_error
        ann.create_profile(bio: "y")
        expect([ann.destroy, ann.errors.full_messages])
          .to eq([false, ["Cannot delete record because of dependent record: profile"]])
      end
    end

    describe "a parent" do
      before { Post.belongs_to :user, optional: true, counter_cache: true, touch: true }

      def counts
        User.order(:id).pluck(:posts_count)
      end

      it "counts its records" do
        post = ann.posts.create!(title: "a")
        expect([counts, ann.posts_count, ann.changed?]).to eq([[1], 1, false])
        bob = User.create!(name: "bob")
        post.update!(user: bob)
        expect(counts).to eq([0, 1])
        post.destroy
        expect(counts).to eq([0, 0])
      end

      it "answers size from its counter" do
        ann.posts.create!(title: "a")
        fresh = User.find(ann.id)
        expect(queries { expect(fresh.posts.size).to eq(1) }).to be_empty
        expect(queries { expect(fresh.posts.count).to eq(1) }.size).to eq(1)
      end

      it "is not counted down while it is destroyed itself" do
        User.has_many :posts, dependent: :destroy
        ann.posts.create!(title: "a")
        expect(queries { ann.destroy }.grep(/UPDATE/)).to be_empty
      end

      it "is taken back with the record" do
        Post.after_create { raise "no" }
        expect { ann.posts.create!(title: "a") }.to raise_error("no")
        expect(counts).to eq([0])
      end

      it "is touched, and what it touches too" do
        Comment.belongs_to :post, touch: true
        post = ann.posts.create!(title: "a")
        [User, Post].each { |model| model.update_all(updated_at: Time.utc(2000)) }
        Comment.create!(post_id: post.id, body: "x")
        expect([Post.pick(:updated_at), User.pick(:updated_at)]).to all(be > Time.utc(2001))
        User.update_all(updated_at: Time.utc(2000))
        post.touch
        expect(User.pick(:updated_at)).to be > Time.utc(2001)
      end

      it "is not touched by a save that changes nothing" do
        post = ann.posts.create!(title: "a")
        expect(queries { post.save }.grep(/UPDATE/)).to be_empty
      end

      it "keeps the counter that is named" do
        Post.database.execute("alter table users add column written integer")
        User.reset_schema
        Post.belongs_to :user, optional: true, counter_cache: :written
        ann.posts.create!(title: "a")
        expect(User.pick(:written)).to eq(1)
      end
    end
  end
end
