# frozen_string_literal: true

# Associations in queries: joins, conditions, existence.
RSpec.describe AsyncRecord::Relation, "with associations" do
  each_database do
    before do
      blog
      written
    end

    def titles(relation)
      relation.pluck(:title).sort
    end

    describe "joins" do
      it "joins associations of every kind" do
        expect(titles(Post.joins(:user))).to eq(%w[first second])
        expect(titles(Post.joins(:comments).distinct)).to eq(%w[first second])
        expect(titles(Post.joins(:tags).where(tags: { name: "ruby" }))).to eq(["first"])
        expect(titles(Post.joins(:team))).to eq(%w[first second])
        expect(titles(Post.joins(:user, :comments).where(comments: { body: "c" }))).to eq(["second"])
      end

      it "joins nested associations" do
        expect(titles(Post.joins(comments: :author).where(author: { name: "bob" }))).to eq(["first"])
        expect(titles(Post.joins(comments: { author: :team }).where(teams: { name: "red" }).distinct)).to eq(["first"])
        expect(titles(Post.joins([:user, { comments: :author }]).distinct)).to eq(["first"])
      end

      it "keeps rows without any by left_joins" do
        counts = Post.left_joins(:comments).group("posts.id").order("posts.id")
        expect(counts.pluck("posts.id", AsyncRecord.sql("count(comments.id)"))).to eq([[1, 2], [2, 1], [3, 0]])
        expect(titles(Post.left_outer_joins(:comments).where(comments: { id: nil }))).to eq(["third"])
      end

      it "numbers a table that occurs twice, and finds it by the association's name" do
        relation = Post.joins(:parent).where(parent: { title: "first" })
        expect(standard_sql(relation))
          .to include('INNER JOIN "posts" "posts_2" ON "posts_2"."id" = "posts"."parent_id"')
        expect([titles(relation), relation.order("parent.title").pluck("parent.title")]).to eq([["second"], ["first"]])
      end

      it "joins once what is named twice" do
        relation = Post.joins(:comments).joins(:comments).joins(comments: :author)
        expect(standard_sql(relation).scan('JOIN "comments"').size).to eq(1)
      end

      it "applies the scope of an association within the join" do
        relation = Post.left_joins(:live_comments)
        expect(standard_sql(relation)).to include('ON "comments"."post_id" = "posts"."id" AND "comments"."state" = ')
        expect(relation.order("posts.id").pluck("posts.id", "comments.body")).to eq([[1, "b"], [2, "c"], [3, nil]])
      end

      it "still takes what is written by hand" do
        by_hand = AsyncRecord.sql("INNER JOIN users ON users.id = posts.user_id")
        expect(titles(Post.joins(by_hand).where(users: { name: "ann" }))).to eq(["first"])
        expect { Post.joins("INNER JOIN users") }.to raise_error(AsyncRecord::UnsafeSql, /joins\(:comments\)/)
      end

      it "casts and checks columns of joined tables" do
        expect(titles(Post.joins(:comments).where(comments: { state: "0" }))).to eq(["first"])
        expect { Post.joins(:comments).where(comments: { stat: 1 }).to_a }
          .to raise_error(AsyncRecord::UnknownColumn, /comments has no column "stat"; did you mean "state"/)
      end

      it "names what it does not know, before anything is asked" do
        expect { Post.joins(:coments) }.to raise_error(AsyncRecord::UnknownAssociation, /did you mean :comments\?/)
        expect { Post.joins(comments: :writer) }.to raise_error(AsyncRecord::UnknownAssociation, /Comment has no/)
        expect { Post.preload(user: :teem) }.to raise_error(AsyncRecord::UnknownAssociation, /did you mean :team\?/)
        expect { Post.joins(1) }.to raise_error(ArgumentError, /not by a Integer/)
      end

      it "counts, changes and deletes through the join" do
        expect(Post.joins(:comments).count).to eq(3)
        expect(Post.joins(:comments).distinct.count).to eq(2)
        expect(Post.joins(:comments).where(comments: { body: "c" }).update_all(title: "changed")).to eq(1)
        expect(Post.joins(:comments).where(comments: { body: "c" }).delete_all).to eq(1)
        expect(Post.pluck(:title)).to eq(%w[first third])
      end

      it "does not join scopes that a join cannot hold" do
        Post.has_many :last_comments, -> { limit(1) }, class_name: "Comment"
        Post.has_many :own, ->(post) { where(body: post.title) }, class_name: "Comment"
        expect { Post.joins(:last_comments).to_a }.to raise_error(AsyncRecord::AssociationError, /cannot be joined/)
        expect { Post.joins(:own).to_a }.to raise_error(AsyncRecord::AssociationError, /takes its owner/)
      end

      it "is shown without asking the database" do
        relation = Post.joins(:comments).where(comments: { state: 1 })
        Post.reset_schema
        expect(queries { expect(relation.inspect).to match(/JOIN .comments/) }).to be_empty
      end
    end

    describe "where" do
      it "takes a record, records, nothing and a relation for an association" do
        ann, bob = User.order(:id).to_a
        expect(titles(Post.where(user: ann))).to eq(["first"])
        expect(titles(Post.where(user: [ann, bob]))).to eq(%w[first second])
        expect(titles(Post.where(user: nil))).to eq(["third"])
        expect(titles(Post.where(user: User.where(name: "bob")))).to eq(["second"])
        expect(titles(Post.where.not(user: ann))).to eq(["second"])
        expect(titles(Post.where(comments: Comment.find(3)))).to eq(["second"])
        expect(Post.find_by(user: bob).title).to eq("second")
      end

      it "takes them for associations of joined tables too" do
        expect(titles(Post.joins(:comments).where(comments: { author: User.find_by(name: "bob") }))).to eq(["first"])
        by_ann = { author: User.where(name: "ann") }
        expect(titles(Post.joins(comments: :author).where(comments: by_ann))).to eq(["first"])
      end

      it "refuses a record of another class, and what has no key here" do
        expect { Post.where(user: Tag.first) }.to raise_error(ArgumentError, /takes a User, not a Tag/)
        expect { Post.where(comments: nil) }.to raise_error(ArgumentError, /missing\(:comments\)/)
        expect { Post.where(tags: Tag.first) }.to raise_error(ArgumentError, /joins\(:tags\)/)
      end

      it "compares keys by their column's type" do
        expect(Post.where(user: User.first).binds).to eq([1])
      end
    end

    describe "associated and missing" do
      it "keeps records that have some, each once, or none" do
        expect(titles(Post.where.associated(:comments))).to eq(%w[first second])
        expect(titles(Post.where.missing(:comments))).to eq(["third"])
        expect(titles(Post.missing(:user))).to eq(["third"])
        expect(titles(Post.associated(:user, :children))).to eq(["first"])
      end

      it "understands scopes, associations through others, and a table within itself" do
        expect(titles(Post.associated(:live_comments))).to eq(%w[first second])
        expect(titles(Post.associated(:tags))).to eq(%w[first second])
        expect(titles(Post.missing(:team))).to eq(["third"])
        expect(titles(Post.missing(:children))).to eq(%w[second third])
        expect(Team.associated(:comments).count).to eq(1)
      end

      it "goes with joins" do
        expect(titles(Post.joins(:comments).associated(:comments).distinct)).to eq(%w[first second])
      end
    end
  end
end
