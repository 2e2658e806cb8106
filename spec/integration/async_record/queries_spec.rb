# frozen_string_literal: true

# What relations find, on each kind of database.
RSpec.describe "Queries" do
  each_database do
    before do
      database.query("create table posts (id #{column(:id)}, user_id #{column(:integer)}, title #{column(:string)}, " \
                     "state #{column(:string)}, views #{column(:integer)}, price #{column(:decimal)}, " \
                     "rating #{column(:float)}, seen_at #{column(:time)})")
      model("Post", database) do
        scope :live, -> { where(state: "live") }
        scope :by, ->(user_id, least: 0) { where(user_id: user_id, views: least..) }
        scope(:maybe) { |wanted| live if wanted }
      end
    end

    def insert(*rows)
      columns = %i[title state views user_id price rating seen_at]
      Post.insert_all!(rows.map { |row| columns.to_h { |column| [column, nil] }.merge(row) })
    end

    def titles(relation)
      relation.order(:title).pluck(:title)
    end

    describe "narrow by conditions" do
      before do
        insert({ title: "a", views: 1, state: "live", user_id: 1 }, { title: "b", views: 5, state: "live", user_id: 2 },
               { title: "c", views: 9, state: "draft", user_id: 1 }, { title: "d", state: "gone" })
      end

      {
        "equal" => [{ views: 5 }, %w[b]], "nil" => [{ views: nil }, %w[d]], "a list" => [{ views: [1, 9] }, %w[a c]],
        "a list with nil" => [{ views: [1, nil] }, %w[a d]], "only nil" => [{ views: [nil] }, %w[d]],
        "an empty list" => [{ views: [] }, []], "a range" => [{ views: 1..5 }, %w[a b]],
        "an exclusive range" => [{ views: 1...5 }, %w[a]], "endless" => [{ views: 5.. }, %w[b c]],
        "beginless" => [{ views: ..5 }, %w[a b]], "beginless and exclusive" => [{ views: ...5 }, %w[a]],
        "everything" => [{ views: nil..nil }, %w[a b c d]], "an empty range" => [{ views: 5..1 }, []],
        "ranges in a list" => [{ views: [1..2, 9, nil] }, %w[a c d]],
        "two columns" => [{ state: "live", user_id: 2 }, %w[b]],
        "another table's name" => [{ posts: { state: "draft" } }, %w[c]],
        "a qualified name" => [{ "posts.state" => "draft" }, %w[c]],
        "tuples" => [{ %i[state user_id] => [["live", 1], ["gone", nil]] }, %w[a d]]
      }.each do |what, (given, expected)|
        it("by #{what}") { expect(titles(Post.where(given))).to eq(expected) }
      end

      it "by subqueries, fragments, lists in fragments and marked SQL" do
        inner = Post.where(state: "draft").select(:user_id)
        expect(titles(Post.where(user_id: inner))).to eq(%w[a c])
        expect(titles(Post.where("views > ? and state = :state", 1, state: "live"))).to eq(%w[b])
        expect(titles(Post.where("state in (?) or views is null", %w[draft]))).to eq(%w[c d])
        expect(titles(Post.where("user_id in ?", inner))).to eq(%w[a c])
        expect(titles(Post.where(AsyncRecord.sql("views = ?", 9)))).to eq(%w[c])
        expect(titles(Post.where("state = 'li?ve' or title = ? -- :x", "d"))).to eq(%w[d])
        expect(titles(Post.where(views: AsyncRecord.sql("3 + ?", 2)))).to eq(%w[b])
      end

      it "by either, both and none of them" do
        expect(titles(Post.where(views: 1).or(Post.where(views: 9)))).to eq(%w[a c])
        expect(titles(Post.live.and(Post.where(user_id: 2)))).to eq(%w[b])
        expect(titles(Post.where.not(state: "live"))).to eq(%w[c d])
        expect(titles(Post.not(views: [1, 5], state: "live"))).to eq(%w[c d])
        expect(titles(Post.where.not(views: 1))).to eq(%w[b c])
        expect(titles(Post.live.invert_where)).to eq(%w[c d])
        expect(titles(Post.live.none)).to eq([])
      end

      it "anew" do
        live = Post.live.where(user_id: 1)
        expect(titles(live.rewhere(state: "draft"))).to eq(%w[c])
        expect(titles(live.unscope(where: :user_id))).to eq(%w[a b])
        expect(titles(live.unscope(where: %i[user_id state]))).to eq(%w[a b c d])
        expect(titles(live.where("views > 0").unscope(:where))).to eq(%w[a b c d])
        expect(titles(Post.where.not(state: "live").unscope(where: :state))).to eq(%w[a b c d])
        expect(titles(live.where(posts: { views: 9 }).unscope(where: "posts.views"))).to eq(%w[a])
        expect(Post.order(:id).limit(1).offset(1).except(:limit, :offset, :order).count).to eq(4)
        expect { live.unscope(:nonsense) }.to raise_error(ArgumentError, /unscope takes where, order/)
        expect { live.unscope(order: :a) }.to raise_error(ArgumentError, /where: columns/)
      end

      it "by merging, where the later word on a column counts" do
        expect(titles(Post.live.merge(Post.where(state: "draft")))).to eq(%w[c])
        expect(titles(Post.live.merge(Post.where(user_id: 2)))).to eq(%w[b])
        expect(titles(Post.live.merge(state: "draft"))).to eq(%w[c])
        merged = Post.live.order(:title).limit(1).merge(Post.order(title: :desc).select(:title))
        expect(merged.to_a.map(&:title)).to eq(["b"])
      end

      it "by scopes with arguments" do
        expect([titles(Post.by(1)), titles(Post.by(1, least: 5)), titles(Post.live.by(2)), titles(Post.maybe(false)),
                titles(Post.maybe(true))]).to eq([%w[a c], %w[c], %w[b], %w[a b c d], %w[a b]])
      end
    end

    describe "sort and cut" do
      before { insert({ title: "a", views: 2 }, { title: "b" }, { title: "c", views: 1 }) }

      it "with NULLs where they are wanted" do
        sorted = [{ views: { desc: false, nulls: :first } }, { views: { desc: false, nulls: :last } },
                  { views: { desc: true, nulls: :first } }, { views: { desc: true, nulls: :last } }]
        expect(sorted.map { |order| Post.order(order).pluck(:title).join }).to eq(%w[bca cab bac acb])
        expect(Post.order("views desc nulls last").reverse_order.pluck(:title).join).to eq("bca")
      end

      it "by several, anew and backwards" do
        expect(Post.order(:title).reorder(title: :desc).pluck(:title)).to eq(%w[c b a])
        expect(Post.order("title desc").reverse_order.pluck(:title)).to eq(%w[a b c])
        expect(Post.reverse_order.pluck(:title)).to eq(%w[c b a])
        expect(Post.order(AsyncRecord.sql("coalesce(views, ?)", 9)).pluck(:title)).to eq(%w[c a b])
        expect { Post.order(AsyncRecord.sql("views")).reverse_order }.to raise_error(ArgumentError, /cannot turn/)
      end

      it "by limit and offset, together and alone" do
        base = Post.order(:title)
        expect([base.limit(1), base.limit(1).offset(1), base.offset(2), base.limit("2"), base.limit(0),
                base.limit(1).limit(nil)]
                 .map do |relation|
                 relation.pluck(:title).join
               end).to eq(["a", "b", "c", "ab", "", "abc"])
      end
    end

    describe "choose" do
      before do
        insert({ title: "a", views: 2, user_id: 1 }, { title: "b", views: 3, user_id: 1 },
               { title: "c", views: 3, user_id: 2 })
      end

      it "columns, other names and expressions" do
        post = Post.select(:title, AsyncRecord.sql("views * ? as doubled", 2), views: :seen).order(:id).first
        expect([post.title, post["doubled"], post["seen"], post.has_attribute?(:user_id)]).to eq(["a", 4, 2, false])
        expect(Post.select(:title).reselect(:views).order(:id).first.attributes).to eq({ "views" => 2 })
        expect(Post.order(:id).select { |one| one.views == 3 }.map(&:title)).to eq(%w[b c])
      end

      it "distinct values" do
        expect([Post.count(:all), Post.all.count(:all)]).to eq([Post.count] * 2)
        expect([Post.distinct.order(:views).pluck(:views), Post.distinct.count(:views),
                Post.select(:views).distinct.count,
                Post.distinct.sum(:views)]).to eq([[2, 3], 2, 2, 5])
      end

      it "from a subquery that stands for the table" do
        best = Post.from(Post.order(views: :desc, id: :asc).limit(2)).where(user_id: 1)
        expect([best.pluck(:title), best.count, best.first.title, best.exists?, best.update_all(title: "x")])
          .to eq([["b"], 1, "b", true, 1])
        raw = Post.from(AsyncRecord.sql("select * from posts where views = ?", 2))
        expect(raw.map(&:title)).to eq(["a"])
        expect { Post.from("posts; drop table posts") }.to raise_error(AsyncRecord::UnsafeSql, /AsyncRecord.sql/)
      end

      it "the first of each, where the database can" do
        latest = Post.distinct_on(:user_id).order(:user_id, id: :desc)
        if kind == :postgresql
          expect([latest.map(&:title), latest.count, latest.pluck(:title)]).to eq([%w[b c], 2, %w[b c]])
        else
          expect { latest.to_a }.to raise_error(AsyncRecord::NotSupported, /PostgreSQL's alone/)
        end
      end
    end

    describe "compute" do
      before do
        insert({ title: "a", views: 1, user_id: 1, price: "0.10", rating: 1.5, seen_at: Time.utc(2024, 1, 2) },
               { title: "b", views: 4, user_id: 1, price: "0.20", rating: 2.5, seen_at: Time.utc(2024, 1, 3) },
               { title: "c", views: 4, user_id: 2, price: "12345678901.0001" }, { title: "d" })
      end

      it "exactly, with the column's class" do
        values = [Post.sum(:views), Post.where(user_id: 1).sum(:price), Post.average(:views), Post.average(:rating),
                  Post.maximum(:seen_at), Post.minimum(:price), Post.sum(:rating)]
        expect(values).to eq([9, BigDecimal("0.3"), 3, 2.0, Time.utc(2024, 1, 3), BigDecimal("0.1"), 4.0])
        expect(values.map(&:class)).to eq([Integer, BigDecimal, BigDecimal, Float, Time, BigDecimal, Float])
        expect(Post.sum(:price)).to eq(BigDecimal("12345678901.3001"))
      end

      it "nothing of nothing" do
        none = Post.where(title: "z")
        expect([none.sum(:views), none.average(:views), none.maximum(:views), none.count, none.pick(:id), none.ids,
                Post.none.sum(:views), Post.none.count, Post.none.group(:state).count])
          .to eq([0, nil, nil, 0, nil, [], 0, 0, {}])
      end

      it "by groups" do
        expect([Post.group(:user_id).count, Post.group(:user_id).sum(:views), Post.group(:user_id).average(:views)])
          .to eq([{ 1 => 2, 2 => 1, nil => 1 }, { 1 => 5, 2 => 4, nil => 0 }, { 1 => 2.5, 2 => 4, nil => nil }])
        expect(Post.group(:user_id, :views).count).to eq({ [1, 1] => 1, [1, 4] => 1, [2, 4] => 1, [nil, nil] => 1 })
        expect(Post.group(:user_id).having("count(*) > ?", 1).count).to eq({ 1 => 2 })
        expect(Post.group(:user_id).having("sum(views) >= :n", n: 4).order(:user_id).limit(1).count).to eq({ 1 => 2 })
        expect(Post.group(AsyncRecord.sql("views + 0")).count).to eq({ 1 => 1, 4 => 2, nil => 1 })
        expect(Post.group(:state).regroup(:user_id).maximum(:views)).to eq({ 1 => 4, 2 => 4, nil => nil })
      end

      it "what is there" do
        expect([Post.exists?, Post.exists?(title: "a"), Post.exists?("views > ?", 9), Post.any?, Post.none?, Post.many?,
                Post.one?, Post.where(title: "a").one?, Post.where(title: "a").many?, Post.empty?])
          .to eq([true, true, false, true, false, true, false, true, false, false])
        expect([Post.none.any?, Post.none.many?, Post.none.one?, Post.any?(Post)]).to eq([false, false, false, true])
        expect(called_back { |done| Post.many? { |many| done.call(many) } }).to be(true)
      end

      it "joined by hand" do
        join = "inner join posts others on others.views = posts.views and others.id > posts.id"
        pairs = Post.joins(AsyncRecord.sql(join))
        expect([pairs.pluck(:title), pairs.count, pairs.pluck("posts.title", AsyncRecord.sql("others.title"))])
          .to eq([["b"], 1, [%w[b c]]])
        expect([pairs.update_all(title: "joined"), pairs.delete_all, Post.count]).to eq([1, 1, 3])
      end
    end

    describe "find" do
      before { insert({ title: "a", views: 1 }, { title: "b", views: 1 }) }

      it "one, the only one, or none" do
        expect([Post.find_by(title: "b").title, Post.where(title: "b").sole.title, Post.find_sole_by(title: "a").title,
                Post.find_by(title: "z")]).to eq(["b", "b", "a", nil])
        expect { Post.find_sole_by(views: 1) }.to raise_error(AsyncRecord::SoleRecordExceeded)
        expect { Post.find_sole_by(views: 9) }.to raise_error(AsyncRecord::RecordNotFound)
        _, error = called_back { |done| Post.sole { |post, e| done.call(post, e) } }
        expect(error).to be_a(AsyncRecord::SoleRecordExceeded)
      end

      it "by SQL, with binds of both kinds" do
        expect([Post.find_by_sql("select * from posts where title = ?", "a").map(&:views),
                Post.find_by_sql(["select title from posts where title = :t", { t: "b" }]).map(&:title)])
          .to eq([[1], ["b"]])
      end

      it "or make, with what the conditions say" do
        post = Post.where(state: "live").find_or_create_by(title: "n")
        expect([post.state, post.title, post.persisted?, Post.find_or_create_by(title: "n")])
          .to eq(["live", "n", true, post])
        expect([Post.live.new(title: "x").state, Post.live.create!(title: "y").state, Post.live.build.state,
                Post.where(views: [1, 2]).new.views, Post.where(state: "live", views: 1..2).new(state: "x").state])
          .to eq(["live", "live", "live", nil, "x"])
        expect(Post.live.find_or_initialize_by(title: "q").attributes.values_at("state", "title", "id"))
          .to eq(["live", "q", nil])
        expect(Post.create([{ title: "1" }, { title: "2" }]).map(&:title)).to eq(%w[1 2])
      end

      it "or make without a race, also inside a transaction" do
        database.query("create unique index unique_titles on posts (title)")
        expect(Post.create_or_find_by(title: "a").views).to eq(1)
        seen = AsyncRecord.transaction(database: database) do
          [Post.create_or_find_by!({ title: "a" }, views: 5).views,
           Post.create_or_find_by({ title: "c" }, views: 5).views, Post.count]
        end
        expect(seen).to eq([1, 5, 3])
      end
    end

    describe "walk" do
      before do
        insert(*%w[e d c b a].each_with_index.map do |title, index|
                 { title: title, views: index / 2, state: "s" }
               end)
      end

      it "by key, up and down, from and to" do
        expect([Post.find_each(batch: 2).map(&:title).join,
                Post.find_each(batch_size: 2, order: :desc).map(&:title).join,
                Post.find_each(batch: 2, start: 2, finish: 4).map(&:title).join,
                Post.find_each(batch: 2, start: 4, finish: 2, order: :desc).map(&:title).join,
                Post.find_each(batch: 5).map(&:title).join]).to eq(%w[edcba abcde dcb bcd edcba])
      end

      it "by another column, without losing equal values" do
        database.query("create table logs (id #{column(:id)}, day #{column(:integer)} not null, " \
                       "note #{column(:string)})")
        logs = model("Log", database)
        logs.insert_all!([[3, "a"], [1, "b"], [1, "c"], [2, "d"], [1, "e"]].map do |day, note|
                           { day: day, note: note }
                         end)
        expect([logs.find_each(batch: 2, cursor: :day).map(&:note).join,
                logs.find_each(batch: 1, cursor: [:day], order: :desc).map(&:note).join,
                logs.find_each(batch: 2, cursor: :day, start: 2).map(&:note).join]).to eq(%w[bceda adecb da])
        expect { Post.find_each(cursor: :views) { nil } }.to raise_error(ArgumentError, /may be NULL/)
        expect { Post.find_each(order: :sideways) { nil } }.to raise_error(ArgumentError, /:asc or :desc/)
      end

      it "in relations" do
        seen = []
        Post.where("views >= 0").in_batches(of: 2, order: :desc) { |batch| seen << batch.update_all(state: "x") }
        expect([seen, Post.where(state: "x").count]).to eq([[2, 2, 1], 5])
        expect(Post.in_batches(of: 3).map(&:count)).to eq([3, 2])
      end
    end
  end
end
