# frozen_string_literal: true

require "async_record/administration"
require "async_record/cli"
require "async_record/schema_dump"

# The language of migrations on each database: what it makes is there, and what undoes it leaves nothing.
RSpec.describe "Migrations" do
  each_database do |kind|
    # MySQL proper renames no column that a check or a generated column names.
    tiny = kind == :mysql && !Support::Servers.mariadb? ? "small" : "tiny"

    let(:everything) do
      proc do
        create_table(:users, comment: "who") do |t|
          t.string :email, limit: 100, null: false, comment: "it's", index: { unique: true }
          t.boolean :active, default: true, null: false
          t.timestamps
        end
        create_table(:tags, id: :uuid) { |t| t.string :name, null: false }
        create_table(:pairs, primary_key: %i[one two]) do |t|
          t.integer :one
          t.bigint :two
        end
        create_table :posts do |t|
          t.references :user, foreign_key: { on_delete: :cascade }
          t.belongs_to :owner, polymorphic: true
          t.string :title, default: "it's \\ \"x\""
          t.text :body
          t.decimal :price, precision: 10, scale: 2, default: 1.5
          t.datetime :seen, precision: 3
          t.datetime :made, default: AsyncRecord.sql("CURRENT_TIMESTAMP")
          t.json :meta, default: {}
          t.uuid :ref
          t.smallint :small
          t.real :ratio
          t.blob :data
          t.enum :state, values: %w[draft live], default: "draft", null: false
          t.virtual :twice, type: :integer, as: "small * 2"
          t.check "price > 0", name: "price_positive"
          t.timestamps
        end
        create_join_table :posts, :pairs
        add_column :posts, :slug, :string, unique: true
        add_index :posts, %i[title slug], order: { title: :desc }, name: "by_title"
        rename_index :posts, "by_title", "by_titles"
        add_reference :posts, :editor, foreign_key: { to_table: :users, on_delete: :nullify }
        add_foreign_key :posts, :users, column: :owner_id, name: "owner_user"
        add_check_constraint :posts, "small < 100", name: "small_small"
        change_column_null :posts, :body, false, "none"
        change_column_default :users, :active, from: true, to: false
        rename_column :posts, :small, tiny.to_sym unless tiny == "small"
        rename_table :pairs, :couples
        change_table(:users) do |t|
          t.string :nick
          t.rename :nick, :name
          t.index :name
          t.references :boss, foreign_key: { to_table: :users }
        end
      end
    end

    it "make what they say, and leave nothing when they are undone" do
      before = dump_of(database)
      alter(&everything)
      after = dump_of(database)
      expect(database.query("select column_name from (#{columns_sql}) c order by 1", "posts").map do |row|
               row.values.first
             end)
        .to include("editor_id", "owner_type", "slug", tiny, "twice", "user_id")
      alter(database, :down, &everything)
      expect(dump_of(database)).to eq(before)
      alter(&everything)
      expect(dump_of(database)).to eq(after)
    end

    define_method(:columns_sql) do
      case kind
      when :sqlite then "select name as column_name from pragma_table_xinfo(?)"
      when :postgresql then "select column_name from information_schema.columns where table_name = ?"
      else "select column_name as column_name from information_schema.columns where table_schema = database() " \
           "and table_name = ?"
      end
    end

    it "make constraints that hold" do
      alter(&everything)
      database.query("insert into users (id, email, created_at, updated_at) " \
                     "values (1, 'a', current_timestamp, current_timestamp)")
      insert = lambda do |columns, values|
        database.query("insert into posts (body, created_at, updated_at, #{columns}) " \
                       "values ('x', current_timestamp, current_timestamp, #{values})")
      end
      insert.call("user_id, #{tiny}", "1, 4")
      row = database.query("select title, state, twice, made is null as unmade from posts").first
      expect(row.values_at("title", "state", "twice")).to eq(["it's \\ \"x\"", "draft", 8])
      expect([0, false]).to include(row["unmade"])
      [[tiny, "100"], ["price", "-1"], %w[user_id 9], %w[editor_id 9]].each do |columns, values|
        expect do
          insert.call(columns, values)
        end.to raise_error(AsyncRecord::QueryError), "#{columns} = #{values} was taken"
      end
      database.query("delete from users")
      expect(database.query("select count(*) as n from posts")).to eq([{ "n" => 0 }])
    end

    it "know what they changed before, in models too" do
      model("Account", database)
      change("first", "create_table(:accounts) { |t| t.string :name }")
      migration("second", <<~RUBY)
        def up
          Account.create!(name: "ann")
          add_column :accounts, :size, :integer, default: 3
          Account.find_by(name: "ann").update!(size: 4)
          Account.create!(name: "bob")
          say "filled"
        end
      RUBY
      expect(migrate).to eq(2)
      expect(Account.order(:name).pluck(:name, :size)).to eq([["ann", 4], ["bob", 3]])
      expect(said.string).to include("  filled\n")
    end

    it "fill uuid keys by the database" do
      alter { create_table(:tags, id: :uuid) { |t| t.string :name } }
      2.times { |number| database.query("insert into tags (name) values (?)", number.to_s) }
      ids = database.query("select id from tags").map { |row| row["id"] }
      expect(ids.uniq.size).to eq(2)
      expect(ids).to all(match(/\A\h{8}-\h{4}-\h{4}-\h{4}-\h{12}\z/))
    end

    it "ask what is there" do
      seen = nil
      alter do
        create_table(:a) { |t| t.string :b }
        seen = [table_exists?(:a), table_exists?(:b), column_exists?(:a, :b), column_exists?(:a, :c),
                select_value("select 1")]
        drop_table :nope, if_exists: true
        add_column :a, :b, :string, if_not_exists: true
        remove_column :a, :c, if_exists: true
      end
      expect(seen).to eq([true, false, true, false, 1])
    end

    it "do nothing where told that it may be there, or gone, already" do
      twice = proc do
        create_table(:a, if_not_exists: true) { |t| t.integer :b }
        add_column :a, :c, :integer, if_not_exists: true
        add_index :a, :c, if_not_exists: true
      end
      2.times { alter(&twice) }
      alter { add_check_constraint :a, "b > 0", name: "positive" }
      2.times do
        alter do
          remove_check_constraint :a, name: "positive", if_exists: true
          remove_foreign_key :a, :a, column: :c, if_exists: true
          remove_index :a, :c, if_exists: true
          remove_column :a, :c, if_exists: true
        end
      end
      expect(database.schema.table("a").names).to eq(%w[id b])
    end

    it "are loaded from a dump, which is the same when it is written again" do
      alter(&everything)
      database.script("create view live as select id, title from posts where state = 'live'")
      change("nothing", "")
      migrate
      dump = dump_of(database)
      other = fresh_database(kind)
      AsyncRecord::SchemaDump.for(other).load(dump)
      expect(dump_of(other)).to eq(dump)
      expect(dump.lines.grep(/INSERT/)).to eq(["INSERT INTO schema_migrations (version) VALUES ('20240101000000');\n"])
      expect do
        AsyncRecord::SchemaDump.for(other).load(dump)
      end.to raise_error(AsyncRecord::MigrationError, /tables already/)
    end

    it "load no dump of another kind" do
      alien = dump_of(database).sub(/\A-- \w+/, "-- Oracle")
      expect { AsyncRecord::SchemaDump.for(database).load(alien) }
        .to raise_error(AsyncRecord::MigrationError, /a schema of Oracle/)
    end

    it "say what a failure leaves" do
      migration("broken", <<~RUBY)
        def up
          create_table :half
          execute "nonsense"
        end
      RUBY
      whole = kind != :mysql
      message = whole ? /nothing of it was kept/ : /what ran before the error stays:\n  CREATE TABLE `half`/
      expect { migrate }.to raise_error(AsyncRecord::MigrationError, message)
      expect(database.schema.table("half").nil?).to be(whole)
      expect(migrator.status.map(&:state)).to eq([whole ? :down : :unfinished])
    end

    it "leave nothing of rows alone, on every database" do
      alter { create_table(:entries, id: false) { |t| t.integer :a } }
      migration("broken", "def up\n  execute 'insert into entries values (1)'\n  execute 'nonsense'\nend")
      expect { migrate }.to raise_error(AsyncRecord::MigrationError, /nothing of it was kept/)
      expect(database.query("select * from entries")).to eq([])
      expect(migrator.status.map(&:state)).to eq([:down])
    end

    it "say where a failure in Ruby leaves them" do
      migration("broken", "def up\n  create_table :half\n  raise KeyError, 'in Ruby'\nend")
      expect { migrate }.to raise_error(KeyError, "in Ruby")
      expect(database.schema.table("half").nil?).to be(kind != :mysql)
    end

    it "run outside of a transaction when told to" do
      migration("slow", <<~RUBY)
        no_transaction!
        def up
          create_table :half
          execute "nonsense"
        end
      RUBY
      expect do
        migrate
      end.to raise_error(AsyncRecord::MigrationError, /what ran before the error stays:\n  CREATE TABLE .half/)
      expect(database.schema.table("half")).not_to be_nil
      expect { migrate }.to raise_error(AsyncRecord::MigrationError, /nothing of it was kept/)
      expect(migrator.status.map(&:state)).to eq([:unfinished])
      migration("slow", "no_transaction!\ndef up = create_table(:half, if_not_exists: true)",
                version: 20_240_101_000_000)
      migrate
      expect(said.string).to include("20240101000000 Slow was cut off in the middle the last time")
      expect(migrator.status.map(&:state)).to eq([:up])
    end

    it "go to a version, up and down, and again" do
      %w[a b c].each { |name| change("make_#{name}", "create_table :#{name}") }
      expect(migrate("20240101000001")).to eq(2)
      expect(migrate("20240101000000")).to eq(1)
      expect(migrator.version).to eq("20240101000000")
      expect { migrate("20240101000009") }.to raise_error(AsyncRecord::MigrationError, /no migration 20240101000009/)
      migrate
      expect(migrator.redo(2)).to eq(2)
      expect(said.string.lines.last(4).map { |line| line[/Make\w  \w+/] })
        .to eq(["MakeC  down", "MakeB  down", "MakeB  up", "MakeC  up"])
      expect(migrate(0)).to eq(3)
      expect(migrator.version).to be_nil
    end

    it "raise at the start of a program that is behind" do
      AsyncRecord::Base.set_connection(database)
      change("first", "create_table :a")
      expect { AsyncRecord.check_pending!(folder: migrations) }
        .to raise_error(AsyncRecord::PendingMigrations,
                        "1 migration has not run: 20240101000000 First. Run: fastr db migrate")
      migrate
      expect(AsyncRecord.check_pending!(folder: migrations)).to be_nil
    ensure
      AsyncRecord::Base.set_connection(nil)
    end

    it "live beside Rails' tables" do
      database.script("create table schema_migrations (version varchar(255) not null primary key)")
      key = database.dialect.quote("key")
      database.script("create table ar_internal_metadata (#{key} varchar(255) not null primary key, " \
                      "value varchar(255))")
      database.script("insert into ar_internal_metadata values ('environment', 'development')")
      database.script("insert into schema_migrations values ('20240101000000')")
      change("rails_made", "raise")
      change("ours", "create_table :a")
      expect(migrate).to eq(1)
      expect(database.query("select version from schema_migrations order by 1").map { |row| row["version"] })
        .to eq(%w[20240101000000 20240101000001])
      expect(database.query("select count(*) as n from ar_internal_metadata")).to eq([{ "n" => 1 }])
      expect(database.schema.table("schema_migrations").names).to eq(["version"])
    end

    it "print their SQL without a trace" do
      change("first", "create_table(:a) { |t| t.string :b }")
      change("second", "add_column :a, :c, :integer\nchange_column_default :a, :c, from: nil, to: 3")
      model("Account", database) { self.table_name = "a" }
      migration("third", "def up\n  execute 'delete from a'\n  Account.delete_all\n  execute 'unknown'\nend")
      expect(migrate_dry).to eq(3)
      sql = said.string
      expect(sql).to include("ADD COLUMN", "delete from a;\n-- from here on the migration works with rows in Ruby")
      expect(sql).not_to include("unknown")
      expect(sql.include?("BEGIN;")).to be(kind != :mysql)
      expect(database.schema.table("a")).to be_nil
    end

    it "print as much as they know of what depends on the database" do
      change("first", "create_table(:a) { |t| t.string :b }\nchange_column_null :a, :b, true\nadd_column :a, :c, :text")
      expect(migrate_dry).to eq(1)
      expect(said.string).to match(kind == :mysql ? /^-- from here on it depends on what would be there/ : /ADD COLUMN/)
      expect(said.string).to include("INSERT INTO schema_migrations (version) VALUES ('20240101000000');")
    end

    def migrate_dry
      migrator(sql: true).migrate
    end

    it "take plain SQL with triggers and both ways in one file" do
      change("base", "create_table(:a) { |t| t.string :b }")
      migration("more.sql", "-- up\ncreate table c (d varchar(20)); -- ; no\n#{trigger}\n" \
                            "insert into a (b) values ('x;y');\n" \
                            "-- down\ndrop table c;\n#{drop_trigger}")
      migrate
      expect(database.query("select d from c")).to eq([{ "d" => "x;y" }])
      expect(migrator.rollback).to eq(1)
      expect(database.schema.table("c")).to be_nil
    end

    define_method(:trigger) do
      case kind
      when :sqlite then "create trigger tr after insert on a begin insert into c values (new.b); select 1; end;"
      when :postgresql
        "create function f() returns trigger language plpgsql as $$ begin insert into c values (new.b); " \
        "return new; end $$;" \
        "create trigger tr after insert on a for each row execute function f();"
      else
        "create trigger tr after insert on a for each row begin if true then insert into c values (new.b); end if; end;"
      end
    end

    define_method(:drop_trigger) do
      kind == :postgresql ? "drop trigger tr on a; drop function f()" : "drop trigger tr"
    end

    it "make and remove whole databases" do
      name = "made_#{Process.pid}"
      url = kind == :sqlite ? "sqlite:#{sqlite_folder}/#{name}.db" : database.url.sub(%r{/[^/]+\z}, "/#{name}")
      administration = AsyncRecord::Administration.new(open_database(url))
      expect([administration.create, administration.create]).to match([/#{name}.* created\z/, /#{name}.* exists\z/])
      expect([administration.drop, administration.drop]).to match([/#{name}.* removed\z/, /#{name}.* does not exist\z/])
    end

    it "run in a fiber while others go on" do
      change("first", "create_table :a")
      migration("second", "def up = 3.times { sleep 0.05 }")
      ticks = 0
      count = in_fiber do
        other = AsyncRecord.async { 5.times { sleep(0.01).then { ticks += 1 } } }
        migrate.tap { other.await }
      end
      expect([count, ticks]).to eq([2, 5])
    end
  end

  # What only one database has, as it stands in its dump, and loaded from that.
  def same_after_loading
    dump = dump_of(database)
    other = fresh_database(kind)
    AsyncRecord::SchemaDump.for(other).load(dump)
    expect(dump_of(other)).to eq(dump)
    dump
  end

  each_database(:postgresql) do
    it "know the types of that database" do
      alter do
        create_enum :mood, %w[sad it's]
        create_table :samples do |t|
          t.string :tags, array: true, default: ["a, b", "c"]
          t.integer :numbers, array: true, default: []
          %i[inet cidr macaddr interval tsvector tsquery xml int4range int8range numrange tsrange tstzrange daterange
             money timetz point].each { |type| t.column "a_#{type}", type }
          t.bit :bits, limit: 3
          t.bit_varying :more_bits, limit: 9
          t.enum :mood, enum_type: :mood, default: "it's", null: false
          t.decimal :exact, precision: 30, scale: 10
          t.column :position, "double precision[]"
        end
        add_enum_value :mood, "ok", after: "sad"
        add_index :samples, :tags, using: :gin
      end
      database.script("create sequence counter; create table old (id int default nextval('counter'), ts serial)")
      expect(same_after_loading).to include(
        "CREATE TYPE \"mood\" AS ENUM ('sad', 'ok', 'it''s');", '"a_tstzrange" tstzrange', '"bits" bit(3)',
        '"position" double precision[]', "\"mood\" mood DEFAULT 'it''s'::mood NOT NULL", "USING gin (tags)",
        'ALTER SEQUENCE "old_ts_seq" OWNED BY "old"."ts";'
      )
    end

    it "keep what else a schema can have" do
      alter { execute <<~SQL }
        create domain positive as int check (value > 0);
        create table people (id int primary key, kind varchar(9) check (kind in ('a', 'b')), note text, size positive);
        create view b_view as select id from people;
        create view a_view as select id from b_view;
        create materialized view numbers as select 1 as one;
        create index on numbers (one);
        create function stamp() returns trigger language plpgsql as $$ begin new.note := 'a;b'; return new; end $$;
        create function everyone() returns setof people language sql as $$ select * from people $$;
        create trigger stamp before insert on people for each row execute function stamp();
        create table logs (id int, at date) partition by range (at);
        create table logs_2024 partition of logs for values from ('2024-01-01') to ('2025-01-01');
        create index on logs (id);
        alter table people add constraint small check (id < 10) not valid;
        comment on column people.note is 'it''s';
      SQL
      expect(same_after_loading).to include("CREATE MATERIALIZED VIEW", "PARTITION OF", "NOT VALID", "CREATE TRIGGER")
    end
  end

  each_database(:mysql) do
    it "know the types of that database" do
      alter do
        create_table :samples, options: "ENGINE=InnoDB", comment: "it's" do |t|
          t.bigint :big, unsigned: true
          t.tinyint :tiny
          t.integer :three, limit: 3
          t.mediumint :medium
          t.year :made
          t.set :flags, values: ["a", "it's"]
          t.enum :state, values: %w[a b], default: "b"
          t.bit :bits, limit: 8
          t.text :short, limit: 200
          t.blob :large, size: :medium
          t.string :code, collation: "utf8mb4_bin"
          t.text :words, default: "it's"
        end
        add_index :samples, :words, type: :fulltext
        add_index :samples, :short, length: 10, concurrently: true
        change_column :samples, :tiny, :integer, comment: "less", null: false, default: 3
      end
      # MySQL has no display widths any more, and puts defaults into quotes.
      expect(same_after_loading.gsub(/(int)\(\d+\)/, '\1').sub("DEFAULT '3'", "DEFAULT 3")).to include(
        "`big` bigint unsigned", "`three` mediumint", "`flags` set('a','it''s')", "`bits` bit(8)",
        "`short` tinytext", "COLLATE utf8mb4_bin", "`tiny` int NOT NULL DEFAULT 3 COMMENT 'less'", "COMMENT='it''s'"
      )
    end

    it "keep what else a schema can have" do
      database.script("create table people (id int primary key, note text)")
      database.script("create view b_view as select id from people")
      database.script("create view a_view as select id from b_view")
      database.script("create trigger stamp before insert on people for each row begin set new.note = 'a;b'; end")
      database.script("create procedure nothing() begin if true then select 1; end if; end")
      expect(same_after_loading).to include("CREATE PROCEDURE `nothing`",
                                            "VIEW `a_view`").and match(/stamp`? before insert/i)
    end

    it "take rows back to the last change of the schema" do
      migration("broken", <<~RUBY)
        def up
          create_table(:a) { |t| t.integer :b }
          execute "insert into a (b) values (1)"
          execute "insert into nowhere values (1)"
        end
      RUBY
      expect { migrate }.to raise_error(AsyncRecord::MigrationError) { |error|
        expect(error.message).to match(/stays:\n  CREATE TABLE .*;\nUndo that by hand/)
      }
      expect(database.query("select * from a")).to eq([])
    end
  end

  each_database(:postgresql, :mysql) do
    it "say what to write when a foreign key points to no table" do
      migration("broken", "def change = create_table(:posts) { |t| t.references :author, foreign_key: true }")
      expect { migrate }.to raise_error(AsyncRecord::MigrationError,
                                        /there is no table authors: make it first, or say foreign_key: { to_table: /)
    end

    it "are told of a database that is not there" do
      url = database.url.sub(%r{/\w+\z}, "/not_there")
      code = AsyncRecord::CLI.run(%w[status --database] + [url], out: StringIO.new, err: err = StringIO.new)
      expect([code, err.string]).to match([1, /not_there.*; to make it: fastr db create\n\z/])
    end
  end
end
