# frozen_string_literal: true

RSpec.describe AsyncRecord::Relation do
  let(:tables) do
    { users: { id: "INTEGER", name: "VARCHAR(40)", age: "INTEGER", active: "BOOLEAN", meta: "JSON",
               created_at: "DATETIME" },
      posts: { id: "INTEGER", user_id: "INTEGER", title: "VARCHAR(200)", views: "INTEGER" } }
  end
  let(:database) { FakeDatabase.new(tables: tables) }
  let!(:user) { model("User", database) }
  let!(:post) { model("Post", database) }
  let(:all_columns) { user.column_names.map { |name| %("users"."#{name}") }.join(", ") }

  # What stands after WHERE, and the binds.
  def condition(relation)
    [relation.to_sql[/WHERE (.*)/, 1], relation.binds]
  end

  it "selects the columns by name" do
    expect(user.all.to_sql).to eq(%(SELECT #{all_columns} FROM "users"))
  end

  it "selects everything while the table is not known" do
    unknown = model("Ghost", database)
    expect(unknown.all.to_sql).to eq('SELECT "ghosts".* FROM "ghosts"')
  end

  it "is frozen, and so is everything derived from it" do
    relation = user.where(name: "a").order(:id).limit(1)
    expect(relation).to be_frozen
    expect([relation.conditions, relation.orders]).to all(be_frozen)
  end

  it "is the same one for the same order, and its scope's own inside a class method" do
    expect(user.order(:id)).to equal(user.order(:id))
    expect(user.order(:id, :name).to_sql).to end_with('ORDER BY "users"."id" ASC, "users"."name" ASC')
    user.define_singleton_method(:by_age) { order(:age) }
    expect(user.where(name: "a").by_age.to_sql).to end_with('WHERE "users"."name" = ? ORDER BY "users"."age" ASC')
  end

  describe "texts that are remembered" do
    def text(relation)
      user.table_mapping.shapes.statement(relation)&.sql
    end

    # What is written without any memory.
    def compiled(relation)
      compiler = AsyncRecord.const_get(:Compiler)
      compiler::Select.new(compiler.new(database.dialect, "users", user.table), relation).write.statement.sql
    end

    it "are one for relations that differ in values alone" do
      [user.select(name: :title).where(id: 1), user.where(id: 1, name: "a").order(id: :desc).limit(1).offset(2),
       user.distinct.select(:id, :name)].each do |relation|
        other = relation.limit_value ? user.where(id: 2, name: "b").order(id: :desc).limit(3).offset(4) : relation.dup
        expect(text(relation)).to equal(text(other))
        expect(text(relation)).to eq(compiled(relation))
      end
    end

    it "are never those of another shape" do
      parts = [user.select(:id, :name), user.select(:id).where(name: "a"), user.select(id: :name), user.where(id: 1),
               user.where(id: 1).where(name: "a"), user.where(id: 1).order(:name), user.order(:id, :name),
               user.order(id: :desc), user.order(id: { desc: true, nulls: :last }), user.limit(1), user.offset(1),
               user.limit(1).offset(1), user.distinct, user.select(:id).distinct, user.all, user.select("id")]
      twice = Array.new(2) { parts.map { |relation| text(relation) } }
      expect(twice.uniq).to eq([parts.map { |relation| compiled(relation) }])
    end

    it "are not kept where a value may change them" do
      kept = [user.select(AsyncRecord.sql("1") => :one), user.where(id: nil), user.where(id: [1]), user.where(id: 1..),
              user.where("id = ?", 1), user.order(AsyncRecord.sql("1")), user.group(:id), user.lock]
             .map { |relation| text(relation) }
      expect(kept).to all(be_nil)
    end

    it "are bounded in number" do
      shapes = user.table_mapping.shapes
      names = %i[id name age]
      4000.times do |number|
        columns = Array.new(7) { |place| names[number / (3**place) % 3] }
        relation = user.select(*columns).where(id: number)
        expect(shapes.statement(relation).sql).to end_with('WHERE "users"."id" = ?')
      end
      expect(shapes.instance_variable_get(:@size)).to be <= 2000
    end
  end

  it "keeps a bounded number of orders" do
    200.times { |index| user.order(:"column#{index}") }
    expect(user.instance_variable_get(:@ordered).size).to be <= 100
  end

  it "leaves the relation that it came from as it was" do
    base = user.where(name: "a")
    base.where(age: 1).order(:id)
    expect(base.to_sql).to end_with('WHERE "users"."name" = ?')
  end

  it "does not change when the caller's String or Array does" do
    name = +"ann"
    list = [1]
    relation = user.where(name: name, age: list)
    name << "x"
    list << 2
    expect(relation.binds).to eq(["ann", 1])
  end

  describe "where" do
    {
      "a value" => [{ name: "ann" }, '"users"."name" = ?', ["ann"]],
      "nil" => [{ name: nil }, '"users"."name" IS NULL', []],
      "a list, padded" => [{ age: [1, 2, 3] }, '"users"."age" IN (?, ?, ?, ?)', [1, 2, 3, 3]],
      "a list with nil" => [{ age: [1, nil] }, '("users"."age" IN (?) OR "users"."age" IS NULL)', [1]],
      "an empty list" => [{ age: [] }, "1=0", []],
      "a list of ranges" => [{ age: [1..2, 5] },
                             '("users"."age" BETWEEN ? AND ? OR "users"."age" IN (?))', [1, 2, 5]],
      "a set" => [{ age: Set[4] }, '"users"."age" IN (?)', [4]],
      "a range" => [{ age: 1..9 }, '"users"."age" BETWEEN ? AND ?', [1, 9]],
      "a range without its end" => [{ age: 1...9 }, '("users"."age" >= ? AND "users"."age" < ?)', [1, 9]],
      "an endless range" => [{ age: 18.. }, '("users"."age" >= ?)', [18]],
      "a beginless range" => [{ age: ..18 }, '("users"."age" <= ?)', [18]],
      "a beginless range without its end" => [{ age: ...18 }, '("users"."age" < ?)', [18]],
      "a range of everything" => [{ age: nil..nil }, "1=1", []],
      "an infinite range" => [{ age: 1..Float::INFINITY }, '("users"."age" >= ?)', [1]],
      "text cast to a number" => [{ age: "18 or 1=1" }, '"users"."age" = ?', [18]],
      "a number cast to text" => [{ name: 0 }, '"users"."name" = ?', ["0"]],
      "a boolean" => [{ active: "0" }, '"users"."active" = ?', [false]],
      "a number no column can hold" => [{ age: 10**30 }, '"users"."age" = ?', [1e30]],
      "two columns" => [{ name: "a", age: 1 }, '"users"."name" = ? AND "users"."age" = ?', ["a", 1]],
      "a qualified column" => [{ "users.age" => 1 }, '"users"."age" = ?', [1]],
      "another table" => [{ posts: { title: "t" } }, '("posts"."title" = ?)', ["t"]]
    }.each do |what, (given, sql, binds)|
      it "takes #{what}" do
        expect(condition(user.where(given))).to eq([sql, binds])
      end
    end

    it "takes a record as its key" do
      ann = user.allocate.load_from(FakeRows.new(%w[id], [[7]]), 0)
      expect(condition(post.where(user_id: ann))).to eq(['"posts"."user_id" = ?', [7]])
    end

    it "takes binary text as text" do
      relation = user.where(name: "grün".b)
      expect(relation.binds.first.encoding).to eq(Encoding::UTF_8)
    end

    it "takes a subquery" do
      inner = post.where(title: "t").select(:user_id)
      expect(condition(user.where(id: inner, age: 3)))
        .to eq(['"users"."id" IN (SELECT "posts"."user_id" FROM "posts" WHERE "posts"."title" = ?) ' \
                'AND "users"."age" = ?',
                ["t", 3]])
    end

    it "selects the key of a subquery that names no column" do
      expect(user.where(id: user.where(age: 1)).to_sql)
        .to include('IN (SELECT "users"."id" FROM "users" WHERE "users"."age" = ?)')
    end

    it "takes a fragment with both kinds of placeholders" do
      relation = user.where("age > ? and name = :name", 3, name: "x")
      expect(condition(relation)).to eq(["(age > ? and name = ?)", [3, "x"]])
    end

    it "spreads a list in a fragment" do
      expect(condition(user.where("age in (?)", [1, 2, 3]))).to eq(["(age in (?, ?, ?, ?))", [1, 2, 3, 3]])
      expect(condition(user.where("age in (?)", []))).to eq(["(age in (NULL))", []])
    end

    it "puts a relation into a fragment as a subquery" do
      expect(condition(user.where("age > all ?", user.select(:age))).first)
        .to eq('(age > all (SELECT "users"."age" FROM "users"))')
    end

    it "refuses too few and too many binds" do
      expect { user.where("a = ?").to_sql }.to raise_error(AsyncRecord::FragmentError, /1 `\?` but 0 values/)
      expect { user.where("a = 1", 2).to_sql }.to raise_error(AsyncRecord::FragmentError, /0 `\?` but 1 values/)
      expect { user.where("a = :b", c: 1).to_sql }.to raise_error(AsyncRecord::FragmentError, /no value for :b/)
      expect do
        user.where("a = :b", b: 1, c: 1).to_sql
      end.to raise_error(AsyncRecord::FragmentError, /placeholder for :c/)
    end

    it "names the nearest column for an unknown one" do
      expect { user.where(nmae: 1).to_sql }
        .to raise_error(AsyncRecord::UnknownColumn, 'users has no column "nmae"; did you mean "name"?')
    end

    it "refuses an unknown column even in an empty list" do
      expect { user.where(nmae: []).to_sql }.to raise_error(AsyncRecord::UnknownColumn)
    end

    it "takes trusted SQL with binds" do
      expect(condition(user.where(AsyncRecord.sql("age > ?", 3)))).to eq(["(age > ?)", [3]])
    end

    it "compares a column with trusted SQL" do
      expect(condition(user.where(age: AsyncRecord.sql("id + ?", 1)))).to eq(['"users"."age" = (id + ?)', [1]])
    end

    it "refuses anything else" do
      expect { user.where(12) }.to raise_error(ArgumentError, /where takes a Hash/)
    end

    it "is the relation itself without arguments" do
      expect(user.where.not(age: 1).to_sql).to end_with('WHERE NOT ("users"."age" = ?)')
    end
  end

  describe "combined conditions" do
    it "negates all of its conditions together" do
      expect(condition(user.not(age: 1, name: "a")).first).to eq('NOT ("users"."age" = ? AND "users"."name" = ?)')
    end

    it "alternates with or" do
      relation = user.where(age: 1).or(user.where(name: "a").where(active: true))
      expect(condition(relation))
        .to eq(['(("users"."age" = ?) OR ("users"."name" = ? AND "users"."active" = ?))', [1, "a", true]])
    end

    it "keeps or inside parentheses when narrowed further" do
      relation = user.where(age: 1).or(user.where(age: 2)).where(name: "a")
      expect(condition(relation).first).to end_with(') AND "users"."name" = ?')
    end

    it "matches everything when one side of or does" do
      expect(user.where(age: 1).or(user.all).to_sql).not_to include("WHERE")
      expect(user.all.or(user.where(age: 1)).to_sql).not_to include("WHERE")
    end

    it "joins with and" do
      expect(condition(user.where(age: 1).and(user.where(name: "a"))).first)
        .to eq('"users"."age" = ? AND "users"."name" = ?')
    end

    it "refuses to combine relations of different shape" do
      expect { user.where(age: 1).or(user.limit(1)) }.to raise_error(ArgumentError, /same limit/)
      expect { user.where(age: 1).or(post.where(id: 1)) }.to raise_error(ArgumentError, /relation of User/)
    end

    it "merges what another relation says" do
      relation = user.where(age: 1).order(:id).merge(user.where(name: "a").order(:name).limit(3))
      expect(relation.to_sql).to end_with(
        'WHERE "users"."age" = ? AND "users"."name" = ? ORDER BY "users"."name" ASC LIMIT ?'
      )
    end
  end

  describe "order" do
    {
      "a name" => [[:name], '"users"."name" ASC'],
      "several names" => [[:name, "age"], '"users"."name" ASC, "users"."age" ASC'],
      "a direction in a Hash" => [[{ name: :desc }], '"users"."name" DESC'],
      "a direction in text" => [["name desc, age"], '"users"."name" DESC, "users"."age" ASC'],
      "NULLs in text" => [["name desc nulls last"], '"users"."name" DESC NULLS LAST'],
      "NULLs in a Hash" => [[{ name: { desc: true, nulls: :first } }], '"users"."name" DESC NULLS FIRST'],
      "a qualified name" => [["posts.title"], '"posts"."title" ASC'],
      "trusted SQL" => [[AsyncRecord.sql("length(name) desc")], "length(name) desc"]
    }.each do |what, (terms, sql)|
      it "takes #{what}" do
        expect(user.order(*terms).to_sql).to end_with("ORDER BY #{sql}")
      end
    end

    it "adds to earlier orders, and reorder does not" do
      expect(user.order(:name).order(age: :desc).to_sql).to end_with('"users"."name" ASC, "users"."age" DESC')
      expect(user.order(:name).reorder(:age).to_sql).to end_with('ORDER BY "users"."age" ASC')
    end

    it "turns around" do
      expect(user.order(:name, age: { desc: true, nulls: :last }).reverse_order.to_sql)
        .to end_with('"users"."name" DESC, "users"."age" ASC NULLS FIRST')
      expect(user.all.reverse_order.to_sql).to end_with('ORDER BY "users"."id" DESC')
    end

    it "refuses a direction that is none" do
      expect { user.order(name: :up) }.to raise_error(ArgumentError, /:asc or :desc/)
    end
  end

  it "binds limit and offset" do
    relation = user.limit("5").offset(10)
    expect(relation.to_sql).to end_with("LIMIT ? OFFSET ?")
    expect(relation.binds).to eq([5, 10])
    expect(user.offset(3).to_sql).to end_with("LIMIT -1 OFFSET ?")
  end

  it "refuses a limit that is no count" do
    expect { user.limit(-1) }.to raise_error(ArgumentError, /negative/)
    expect { user.limit("1; drop table users") }.to raise_error(ArgumentError)
  end

  it "takes the limit away" do
    expect(user.limit(1).limit(nil).to_sql).not_to include("LIMIT")
  end

  it "selects columns, aliases and trusted SQL" do
    relation = user.select(:id, "name", AsyncRecord.sql("count(*) as n"), age: :years)
    expect(relation.to_sql)
      .to eq('SELECT "users"."id", "users"."name", count(*) as n, "users"."age" AS "years" FROM "users"')
  end

  it "groups, and narrows the groups" do
    relation = user.select(:age).group(:age).having("count(*) > ?", 2)
    expect(relation.to_sql).to eq('SELECT "users"."age" FROM "users" GROUP BY "users"."age" HAVING (count(*) > ?)')
  end

  it "drops repeated rows" do
    expect(user.select(:age).distinct.to_sql).to eq('SELECT DISTINCT "users"."age" FROM "users"')
  end

  it "joins by trusted SQL, with binds in their place" do
    relation = user.joins(AsyncRecord.sql("INNER JOIN posts ON posts.views > ?", 3)).where(age: 1)
    expect(relation.to_sql).to include('FROM "users" INNER JOIN posts ON posts.views > ? WHERE')
    expect(relation.binds).to eq([3, 1])
  end

  it "shows itself without asking the database" do
    ghost = model("Ghost", database)
    expect(ghost.where(a: 1).inspect).to eq('#<Ghost::QueryRelation SELECT * FROM "ghosts" WHERE "ghosts"."a" = ? [1]>')
    expect(database.log).to be_empty
  end

  it "asks nothing for none" do
    none = user.none.where(age: 1)
    expect([none.to_a, none.count, none.sum(:age), none.pluck(:id), none.exists?, none.first, none.update_all(age: 1),
            none.to_json_bytes, none.group(:age).count]).to eq([[], 0, 0, [], false, nil, 0, "[]", {}])
    expect(database.sql).to be_empty
  end

  describe "on PostgreSQL" do
    let(:database) { FakeDatabase.new("postgres://h/d", tables: tables) }

    it "numbers placeholders through subqueries and sends lists as one bind" do
      relation = user.where(id: post.where(title: "t").select(:user_id)).where(age: [1, 2, 3], name: "x").limit(4)
      expect(relation.to_sql).to end_with(
        'WHERE "users"."id" IN (SELECT "posts"."user_id" FROM "posts" WHERE "posts"."title" = $1) ' \
        'AND "users"."age" = ANY($2) AND "users"."name" = $3 LIMIT $4'
      )
      expect(relation.binds).to eq(["t", [1, 2, 3], "x", 4])
    end

    it "locks rows" do
      expect(user.where(id: 1).lock.to_sql).to end_with("FOR UPDATE")
      expect(user.lock(AsyncRecord.sql("FOR UPDATE SKIP LOCKED")).to_sql).to end_with("FOR UPDATE SKIP LOCKED")
    end
  end

  describe "on MySQL" do
    let(:database) { FakeDatabase.new("mysql://h/d", tables: tables) }

    it "quotes with backticks and pads lists" do
      expect(user.where(age: [1, 2, 3]).select(:id).to_sql)
        .to eq("SELECT `users`.`id` FROM `users` WHERE `users`.`age` IN (?, ?, ?, ?)")
    end

    it "places NULLs by an order of their own" do
      expect(user.order(name: { desc: true, nulls: :last }).to_sql)
        .to end_with("ORDER BY `users`.`name` IS NULL ASC, `users`.`name` DESC")
    end
  end

  it "refuses a condition or an order on an association that is loaded along and not joined" do
    user.has_many(:posts)
    post.belongs_to(:user)
    [user.includes(:posts).where(posts: { views: 1 }), user.eager_load(:posts).order("posts.views"),
     user.where.not(posts: { views: 1 })].each do |relation|
      expect { relation.to_a }.to raise_error(AsyncRecord::AssociationError, /joins\(:posts\) or left_joins\(:posts\)/)
    end
    expect { user.where(posts: { views: 1 }).delete_all }.to raise_error(AsyncRecord::AssociationError, /not joined/)
    raw = AsyncRecord.sql("INNER JOIN posts ON posts.user_id = users.id")
    [user.joins(:posts), user.left_joins(:posts), user.joins(raw)].each do |joined|
      expect(joined.where(posts: { views: 1 }).to_sql).to end_with('WHERE ("posts"."views" = ?)')
    end
  end

  it "lets a subquery name the tables around it" do
    user.has_many(:posts)
    post.belongs_to(:user)
    inner = post.where(users: { age: 3 }).select(:user_id)
    expect(user.where(id: inner).to_sql).to include('WHERE ("users"."age" = ?)')
  end
end
