# frozen_string_literal: true

module Support
  # Tables and models that belong together.
  module Blog
    TABLES = {
      teams: { name: :string },
      users: { team_id: :integer, name: :string, posts_count: :integer, updated_at: :time },
      profiles: { user_id: :integer, bio: :string },
      posts: { user_id: :integer, parent_id: :integer, title: :string, updated_at: :time },
      comments: { post_id: :integer, user_id: :integer, body: :string, state: :integer },
      taggings: { post_id: :integer, tag_id: :integer, position: :integer },
      tags: { name: :string }
    }.freeze
    DEFAULTS = %i[posts_count state position].freeze
    private_constant :TABLES, :DEFAULTS

    # @return [AsyncRecord::Database]
    def blog(database = self.database)
      TABLES.each do |table, columns|
        columns = { id: :id }.merge(columns).map do |name, type|
          "#{name} #{column(type, database.dialect.name)}#{' default 0' if DEFAULTS.include?(name)}"
        end
        database.execute("create table #{table} (#{columns.join(', ')})")
      end
      declare_people(database)
      declare_posts(database)
      database
    end

    def declare_people(database)
      model("Team", database) do
        has_many :users
        has_many :posts, through: :users
        has_many :comments, through: :posts
      end
      model("User", database) do
        belongs_to :team, optional: true
        has_many :posts
        has_one :profile
        has_one :latest_post, -> { order(id: :desc) }, class_name: "Post"
      end
      model("Profile", database) { belongs_to :user }
    end

    def declare_posts(database)
      model("Post", database) do
        belongs_to :user, optional: true
        belongs_to :parent, class_name: "Post", optional: true
        has_many :children, class_name: "Post", foreign_key: :parent_id
        has_many :comments
        has_many :live_comments, -> { where(state: 1).order(id: :desc) }, class_name: "Comment"
        has_many :authors, through: :comments
        has_many :taggings
        has_many :tags, through: :taggings
        has_many :sorted_tags, -> { order(:name) }, through: :taggings, source: :tag
        has_one :team, through: :user
      end
      declare_details(database)
    end

    def declare_details(database)
      model("Comment", database) do
        belongs_to :post
        belongs_to :author, class_name: "User", foreign_key: :user_id, optional: true
      end
      model("Tagging", database) do
        belongs_to :post
        belongs_to :tag
      end
      model("Tag", database) do
        has_many :taggings
        has_many :posts, through: :taggings
      end
    end

    # Two users in one team and one in none; a post of each of the first two, a third post without a user.
    def written
      team = Team.create!(name: "red")
      ann, bob = %w[ann bob].map { |name| User.create!(name: name, team: team) }
      User.create!(name: "cid")
      first = Post.create!(title: "first", user: ann)
      second = Post.create!(title: "second", user: bob, parent: first)
      Post.create!(title: "third")
      first.comments.create!([{ body: "a", author: bob }, { body: "b", author: ann, state: 1 }])
      second.comments.create!(body: "c", state: 1)
      ruby, sql = %w[ruby sql].map { |name| Tag.create!(name: name) }
      first.tags << [sql, ruby]
      second.tags << sql
    end
  end
end

RSpec.configure { |config| config.include Support::Blog }
