# frozen_string_literal: true

# Declarations, and the SQL of the dialects.
RSpec.describe AsyncRecord::Base, "declaring associations" do
  let(:tables) do
    { posts: { id: "INTEGER", user_id: "INTEGER", title: "VARCHAR" }, users: { id: "INTEGER", name: "VARCHAR" },
      comments: { id: "INTEGER", post_id: "INTEGER", state: "INTEGER" } }
  end
  let(:database) { FakeDatabase.new(tables: tables) }

  before do
    model("User", database)
    model("Comment", database)
    model("Post", database)
  end

  it "derives class and keys from the names" do
    Post.belongs_to :user
    Post.has_many :comments
    reflections = [Post.reflection(:user), Post.reflection(:comments)]
    expect(reflections.map { |one| [one.klass, one.owner_key, one.target_key] })
      .to eq([[User, "user_id", "id"], [Comment, "id", "post_id"]])
  end

  it "takes other names" do
    Post.belongs_to :author, class_name: "User", foreign_key: :user_id, primary_key: :name
    expect([Post.reflection(:author).klass, Post.reflection(:author).owner_key, Post.reflection(:author).target_key])
      .to eq([User, "user_id", "name"])
  end

  it "finds classes as Ruby would, from the inside out" do
    stub_const("Blog", Module.new)
    stub_const("Blog::Comment", Class.new(described_class))
    post = stub_const("Blog::Post", Class.new(described_class) { has_many :comments })
    expect([post.reflection(:comments).klass, post.reflection(:comments).foreign_key]).to eq([Blog::Comment, "post_id"])
  end

  it "needs no class before it is used" do
    Post.has_many :reviews
    expect { Post.reflection(:reviews).klass }
      .to raise_error(AsyncRecord::AssociationError, /Post#reviews stands for the class Review.*class_name:/)
    model("Review", database)
    expect(Post.reflection(:reviews).klass).to be(Review)
  end

  it "is inherited, and declared anew by subclasses" do
    Post.has_many :comments
    sub = model("Essay", database, parent: Post) { belongs_to :user, optional: true }
    expect([sub.reflections.keys, Post.reflections.keys]).to eq([%i[comments user], [:comments]])
    Post.has_many :users
    expect(sub.reflections.keys).to include(:users)
  end

  it "knows the association that leads back" do
    Post.has_many :comments
    Comment.belongs_to :post
    Comment.belongs_to :other, class_name: "Post", foreign_key: :post_id, inverse_of: false
    expect([Post.reflection(:comments).inverse.name, Comment.reflection(:post).inverse.name]).to eq(%i[post comments])
    expect(Comment.reflection(:other).inverse).to be_nil
  end

  it "takes an inverse by name" do
    Post.has_many :comments, inverse_of: :entry
    Comment.belongs_to :entry, class_name: "Post", foreign_key: :post_id
    expect(Post.reflection(:comments).inverse.name).to eq(:entry)
    Post.has_many :others, class_name: "Comment", inverse_of: :nothing
    expect { Post.reflection(:others).inverse }.to raise_error(AsyncRecord::UnknownAssociation, /Comment has no/)
  end

  it "gives methods that can be overridden with super" do
    Post.belongs_to :user, optional: true
    Post.class_eval { def user = super || :nobody }
    expect(Post.new.user).to eq(:nobody)
  end

  {
    "polymorphic" => [:belongs_to, :subject, { polymorphic: true }, /polymorphic associations come in a later version/],
    "as" => [:has_many, :notes, { as: :subject }, /polymorphic/],
    "autosave" => [:has_many, :notes, { autosave: true }, /saves what is new below it/],
    "an unknown option" => [:has_many, :notes, { foreign: 1 }, /has_many takes no foreign:.*it takes class_name/],
    "a dependent that is none" => [:has_many, :notes, { dependent: :kill }, /one of destroy, delete_all/],
    "dependent for a parent" => [:belongs_to, :note, { dependent: :destroy }, /belongs_to takes no dependent:/],
    "a composite key" => [:belongs_to, :note, { foreign_key: %i[a b] }, /composite/],
    "a name that records have" => [:has_many, :errors, {}, /would hide a method/],
    "a name that is none" => [:has_many, :"not good", {}, /method's name/]
  }.each do |what, (kind, name, options, message)|
    it "refuses #{what} and says why" do
      expect { Post.public_send(kind, name, **options) }.to raise_error(ArgumentError, message)
    end
  end

  it "refuses a table without a model between two others, and says what to write" do
    expect { Post.has_and_belongs_to_many :tags }.to raise_error(ArgumentError, /has_many :tags, through: :links/)
  end

  it "names the association that an association through it lacks" do
    Post.has_many :comments
    Post.has_many :writers, through: :comments
    expect { Post.reflection(:writers).klass }
      .to raise_error(AsyncRecord::AssociationError, /goes through Post#comments.*:writer or :writers; say source:/)
    Post.has_many :readers, through: :views
    expect { Post.reflection(:readers).klass }.to raise_error(AsyncRecord::UnknownAssociation, /:views/)
  end

  it "refuses SQL in association names" do
    Post.has_many :comments
    expect { Post.joins("comments; drop table posts") }.to raise_error(AsyncRecord::UnsafeSql)
    expect { Post.joins(:"comments; drop table posts") }.to raise_error(AsyncRecord::UnknownAssociation)
    expect { Post.preload("comments; drop table posts") }.to raise_error(AsyncRecord::UnknownAssociation)
  end

  it "asks for each key once, whatever its type is on the other side" do
    Post.belongs_to :user
    database.answer(/FROM "posts"/, %w[id user_id], [1, "7"], [2, 7], [3, nil])
    database.answer(/FROM "users"/, %w[id name], [7, "ann"])
    posts = Post.preload(:user).to_a
    expect(database.statements.last).to eq(
      ['SELECT "users"."id", "users"."name" FROM "users" WHERE "users"."id" IN (?)', [7]]
    )
    expect(posts.map { |post| post.user&.name }).to eq(["ann", "ann", nil])
  end

  describe "in the words of" do
    def declared(url)
      database = FakeDatabase.new(url, tables: tables)
      [User, Comment, Post].each { |model| model.set_connection(database) }
      Post.has_many :comments
      Post.has_many :live, -> { where(state: 1) }, class_name: "Comment"
      Comment.belongs_to :post, optional: true
      Comment.belongs_to :self_made, class_name: "Comment", foreign_key: :post_id, optional: true
    end

    it "PostgreSQL" do
      declared("postgres://localhost/x")
      relation = Post.where(title: "t").joins(:live).where(live: { state: [2, 3] }).order("live.id")
      expect(relation.select(:id).to_sql).to eq(
        'SELECT "posts"."id" FROM "posts" INNER JOIN "comments" ON "comments"."post_id" = "posts"."id" AND ' \
        '"comments"."state" = $1 WHERE "posts"."title" = $2 AND ("comments"."state" = ANY($3)) ' \
        'ORDER BY "comments"."id" ASC'
      )
      expect(relation.binds).to eq([1, "t", [2, 3]])
    end

    it "MySQL" do
      declared("mysql://localhost/x")
      expect(Comment.joins(:self_made).missing(:post).select(:id).to_sql).to eq(
        "SELECT `comments`.`id` FROM `comments` INNER JOIN `comments` `comments_2` ON `comments_2`.`id` = " \
        "`comments`.`post_id` WHERE NOT (EXISTS (SELECT 1 FROM `posts` WHERE `posts`.`id` = `comments`.`post_id`))"
      )
    end
  end
end
