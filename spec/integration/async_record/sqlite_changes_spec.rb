# frozen_string_literal: true

require "async_record/schema_dump"

# What SQLite's ALTER TABLE cannot do is done by editing the stored definition: these look at the rows as well.
RSpec.describe "Changes of tables on SQLite" do
  let(:database) { sqlite_database }

  before do
    alter do
      create_table(:users) { |t| t.string :name, limit: 20 }
      create_table(:posts) do |t|
        t.references :user, foreign_key: { on_delete: :cascade }
        t.string :title, default: "it's"
        t.integer :views
        t.check "views >= 0", name: "views_positive"
      end
    end
    database.query("insert into users (name) values ('ann'), ('bob')")
    database.query("insert into posts (user_id, title, views) values (1, '12', 3), (2, null, null)")
  end

  def columns(table)
    database.query("select * from pragma_table_xinfo(?)", table).to_h { |row| [row["name"], row] }
  end

  def sound?
    database.query("pragma integrity_check") == [{ "integrity_check" => "ok" }] &&
      database.query("pragma foreign_key_check").empty?
  end

  after { expect(sound?).to be(true) }

  it "keep the rows, also those that would fall by a cascade" do
    alter do
      change_column :users, :name, :text
      change_column_default :users, :name, "x"
      change_column_null :users, :name, false
    end
    expect(columns("users")["name"]).to include("type" => "TEXT", "notnull" => 1, "dflt_value" => "'x'")
    expect(database.query("select count(*) as n from posts")).to eq([{ "n" => 2 }])
    expect { database.query("insert into users (name) values (null)") }.to raise_error(AsyncRecord::NotNullViolation)
  end

  it "give values the form of the new type" do
    alter { change_column :posts, :title, :integer, default: nil }
    expect(database.query("select title from posts order by id")).to eq([{ "title" => 12 }, { "title" => nil }])
    alter { add_index :posts, :title }
    alter { change_column :posts, :title, :string }
    expect(database.query("select id from posts where title = '12'")).to eq([{ "id" => 1 }])
  end

  it "refuse what the rows do not fulfil, and say how many" do
    { /1 rows of posts have no title; give a default/ => -> { change_column_null :posts, :title, false },
      /1 rows of posts break "views > 5"/ => -> { add_check_constraint :posts, "views > 5" },
      /1 rows of posts point to no row of users/ => -> { add_foreign_key :posts, :users, column: :views } }
      .each do |message, body|
      expect { alter(&body) }.to raise_error(AsyncRecord::MigrationError, message)
    end
  end

  it "fill what is missing" do
    alter { change_column_null :posts, :title, false, "none" }
    expect(database.query("select title from posts where id = 2")).to eq([{ "title" => "none" }])
  end

  it "add and remove constraints" do
    alter do
      remove_foreign_key :posts, :users
      remove_check_constraint :posts, name: "views_positive"
      add_check_constraint :posts, "length(title) < 5", name: "short"
    end
    database.query("insert into posts (user_id, title, views) values (99, 'x', -1)")
    expect { database.query("insert into posts (title) values ('123456')") }.to raise_error(AsyncRecord::CheckViolation)
    database.query("delete from posts where user_id = 99")
    alter { add_foreign_key :posts, :users, on_delete: :nullify }
    expect do
      database.query("insert into posts (user_id) values (99)")
    end.to raise_error(AsyncRecord::ForeignKeyViolation)
    database.query("delete from users where id = 1")
    expect(database.query("select user_id from posts where id = 1")).to eq([{ "user_id" => nil }])
  end

  it "remove a reference that stands with its column" do
    database.query("create table hand (id integer primary key, " \
                   "user_id int references users (id) on delete cascade not null)")
    alter { remove_foreign_key :hand, :users }
    database.query("insert into hand (user_id) values (77)")
    expect { database.query("insert into hand (id) values (2)") }.to raise_error(AsyncRecord::NotNullViolation)
  end

  it "are undone by what undoes them" do
    before = dump_of(database)
    body = proc do
      change_column_default :posts, :title, from: "it's", to: "y"
      change_column_null :users, :name, false
      add_check_constraint :posts, "length(title) < 5"
      add_reference :posts, :editor, foreign_key: { to_table: :users }
      add_index :posts, :title, name: "old"
      rename_index :posts, "old", "new"
      rename_table :posts, :articles
    end
    alter(&body)
    expect(dump_of(database)).not_to eq(before)
    alter(database, :down, &body)
    expect(dump_of(database)).to eq(before)
  end

  it "take indexes along with their column" do
    alter do
      add_index :posts, %i[title views], name: "both"
      add_index :posts, :views, name: "one"
      remove_column :posts, :title
    end
    expect(database.query("select name from sqlite_master where type = 'index'").map { |row| row["name"] })
      .to contain_exactly("index_posts_on_user_id", "one")
  end

  it "leave nothing when something fails later, and the connection fit for more" do
    before = dump_of(database)
    expect do
      alter do
        change_column_null :posts, :title, false, "x"
        execute "nonsense"
      end
    end.to raise_error(AsyncRecord::QueryError)
    expect(dump_of(database)).to eq(before)
    expect { database.query("update sqlite_master set sql = ''") }.to raise_error(AsyncRecord::QueryError, /may not be/)
    alter { add_column :posts, :slug, :string }
  end

  it "say what is not there" do
    { /there is no table nope/ => -> { change_column :nope, :a, :text },
      /there is no column nope/ => -> { change_column_null :posts, :nope, true },
      /posts has no foreign key/ => -> { remove_foreign_key :posts, column: :views },
      /posts has no check nope/ => -> { remove_check_constraint :posts, name: "nope" },
      /there is no index nope/ => -> { rename_index :posts, "nope", "x" },
      /posts\.id is the key/ => -> { change_column :posts, :id, :string } }.each do |message, body|
      expect { alter(&body) }.to raise_error(AsyncRecord::MigrationError, message)
    end
    alter do
      remove_column :posts, :nope, if_exists: true
      add_column :posts, :title, :string, if_not_exists: true
      remove_foreign_key :posts, column: :views, if_exists: true
    end
  end

  it "read definitions that were written by hand" do
    database.query("CREATE TABLE 'odd' (a INT -- the , first\n DEFAULT (1 + (2)) /* ) */ NOT NULL, " \
                   "[b c] text CHECK (\"b c\" <> " \
                   "'),('), `d` numeric(4,2) default -1.5, UNIQUE(a, d)) WITHOUT ROWID"
                     .sub("[b c] text", "[b c] text PRIMARY KEY"))
    alter do
      change_column_null :odd, :a, true
      change_column_default :odd, :a, 7
      change_column_default :odd, :d, nil
      change_column :odd, :d, :decimal, precision: 10, scale: 3, null: false
    end
    expect(columns("odd").transform_values { |row| row.values_at("type", "notnull", "dflt_value") })
      .to eq("a" => ["INT", 0, "7"], "b c" => ["TEXT", 1, nil], "d" => ["DECIMAL(10, 3)", 1, nil])
  end
end
