# frozen_string_literal: true

require "async_record/cli"
require "open3"

RSpec.describe "fastr db" do
  let(:root) { sqlite_folder }
  let(:out) { StringIO.new }
  let(:err) { StringIO.new }
  let(:env) { { "DATABASE_URL" => "sqlite:db/app.db" } }
  let(:database) { AsyncRecord::Base.database }

  before do
    write("db/migrate/20240101000000_create_posts.rb", <<~RUBY)
      class CreatePosts < AsyncRecord::Migration
        def change = create_table(:posts) { |t| t.string :title, null: false }
      end
    RUBY
    write("db/migrate/20240102000000_add_slug.rb", <<~RUBY)
      class AddSlug < AsyncRecord::Migration
        def change = add_column(:posts, :slug, :string, unique: true)
      end
    RUBY
  end

  after { AsyncRecord.disconnect }

  def write(name, text)
    path = File.join(root, name)
    FileUtils.mkdir_p(File.dirname(path))
    File.write(path, text)
  end

  def read(name)
    File.read(File.join(root, name))
  end

  def db(*arguments)
    [out, err].each { |io| io.truncate(0).then { io.rewind } }
    AsyncRecord::CLI.run(arguments, out: out, err: err, root: root, env: env)
  end

  def lines
    out.string.lines.map(&:chomp)
  end

  it "writes the schema when told to, and keeps the file true from then on" do
    db("migrate")
    expect(File.exist?("#{root}/db/schema.sql")).to be(false)
    expect([db("dump"), lines]).to eq([0, ["db/schema.sql written"]])
    expect(read("db/schema.sql")).to eq(<<~SQL)
      -- SQLite schema. Written by `fastr db dump`, loaded by `fastr db load`; changed by migrations, not by hand.

      CREATE TABLE "posts" (
        "id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
        "title" VARCHAR NOT NULL,
        "slug" VARCHAR
      );
      CREATE UNIQUE INDEX "index_posts_on_slug" ON "posts" ("slug");

      CREATE TABLE schema_migrations (
        version VARCHAR(255) NOT NULL PRIMARY KEY
      );

      -- Which migrations ran, sorted from the last digit on so that branches merge.
      INSERT INTO schema_migrations (version) VALUES ('20240101000000');
      INSERT INTO schema_migrations (version) VALUES ('20240102000000');
    SQL
    expect([db("rollback"), lines.last]).to eq([0, "db/schema.sql written"])
    expect(read("db/schema.sql")).not_to include("slug")
    env["APP_ENV"] = "production"
    expect([db("migrate"), lines.size]).to eq([0, 1])
  end

  it "sorts versions so that two branches' lines rarely meet" do
    database = sqlite_database
    AsyncRecord::Migrator.new(database, folder: root, out: out).migrate
    %w[20240101000019 20240101000002 20240101000011].each do |version|
      database.query("insert into schema_migrations values (?)", version)
    end
    expect(AsyncRecord::SchemaDump.for(database).to_s.scan(/\('(\d+)'\)/).flatten)
      .to eq(%w[20240101000011 20240101000002 20240101000019])
  end

  it "sets a new machine up from the schema file, and knows the files as they are" do
    db("migrate")
    db("dump")
    db("drop")
    write("db/seeds.rb", "AsyncRecord.database.query(\"insert into posts (title) values ('seed')\")")
    expect([db("setup"), lines]).to eq([0, ["#{root}/db/app.db created", "db/schema.sql loaded", "nothing to migrate",
                                            "db/seeds.rb done"]])
    expect(database.query("select title from posts")).to eq([{ "title" => "seed" }])
    write("db/migrate/20240102000000_add_slug.rb", "class AddSlug < AsyncRecord::Migration; end")
    expect([db("migrate"), err.string]).to match([1, /was changed after it ran/])
  end

  it "sets up by the migrations without a schema file" do
    expect([db("setup"), lines.size]).to eq([0, 4])
  end

  it "loads into an empty database only" do
    expect([db("migrate"), err.string]).to eq([0, ""])
    expect([db("load"), err.string]).to match([1, %r{there is no db/schema.sql; fastr db dump writes it}])
    expect([db("dump"), err.string]).to eq([0, ""])
    expect([db("load"), err.string]).to match([1, /has tables already/])
  end

  it "tells drift: what has not run, what the file does not know, what was changed" do
    expect([db("check"), err.string]).to match([1, /20240101000000 CreatePosts has not run \(fastr db migrate\)/])
    db("migrate")
    expect([db("check"), lines]).to eq([0, ["all is well: 20240102000000"]])
    db("dump")
    database.query("alter table posts add column secret text")
    expect([db("check"), err.string])
      .to match([1,
                 %r{db/schema.sql is not what the database has .*\n  - "slug" VARCHAR\n(.*\n)?  \+ secret text\n}])
    db("dump")
    expect(db("check")).to eq(0)
    File.delete("#{root}/db/migrate/20240102000000_add_slug.rb")
    expect([db("check"), err.string]).to match([1, /20240102000000 \(no file\) ran, but its file is gone/])
  end

  it "redoes" do
    db("migrate")
    expect([db("redo", "-n", "2"), lines.map { |line| line[/up|down/] }]).to eq([0, %w[down down up up]])
  end

  it "takes the version behind the command, and goes down to it" do
    db("migrate", "20240101000000")
    db("version")
    expect(lines).to eq(["20240101000000"])
    db("migrate")
    expect([db("migrate", "20240101000000"), lines]).to match([0, [/AddSlug  down/]])
  end

  it "refuses in production what may destroy data, unless forced" do
    db("migrate")
    db("dump")
    env["RAILS_ENV"] = "production"
    [%w[drop], %w[rollback], %w[redo], %w[reset], %w[setup], %w[load], %w[migrate 20240101000000]].each do |command|
      expect([db(*command), err.string]).to match([1, /the production database; say --force/]), command.inspect
    end
    expect(db("migrate")).to eq(0)
    expect(db("rollback", "--force")).to eq(0)
  end

  it "has files of their own for other databases" do
    env["LOG_DATABASE_URL"] = "sqlite:db/log.db"
    expect([db("new", "create_entries", "text:text!", "--database", "log"), lines])
      .to match([0, [%r{\Acreate  db/log_migrate/\d+_create_entries.rb\z}]])
    expect([db("migrate", "--database", "log"), lines]).to match([0, [/CreateEntries  up/]])
    expect(db("dump", "--database", "log")).to eq(0)
    expect(read("db/log_schema.sql")).to include('"text" TEXT NOT NULL')
    expect([db("status"), lines]).to match([0, [/\Adown/, /\Adown/]])
    expect([db("status", "--database", "nope"), err.string])
      .to match([1, /no database :nope; .*, or set NOPE_DATABASE_URL/])
    expect([db("version", "--database", "sqlite:db/log.db", "--folder", "db/log_migrate"),
            lines]).to match([0, [/\A\d+\z/]])
  end

  it "takes a URL for one command, and leaves the program its own database" do
    other = ["--database", "sqlite:db/other.db"]
    expect([db("migrate", *other), AsyncRecord.databases]).to eq([0, {}])
    own = AsyncRecord.connect("sqlite:#{root}/db/app.db")
    db("version", *other)
    expect([lines, AsyncRecord.databases]).to eq([["20240102000000"], { primary: own }])
    expect([db("migrate", "--database", "postgres://127.0.0.1:1/a"), AsyncRecord.databases])
      .to eq([1, { primary: own }])
    expect([db("version"), lines]).to eq([0, ["no migration has run"]])
  end

  it "fills in what the name and the fields say" do
    db("new", "create_items", "title:string!", "price:decimal{10,2}", "slug:uniq", "code:string{20}!:uniq",
       "user:references",
       "tags:json:index")
    expect(read(lines.first.delete_prefix("create  "))).to eq(<<~RUBY)
      # frozen_string_literal: true

      class CreateItems < AsyncRecord::Migration
        def change
          create_table :items do |t|
            t.string :title, null: false
            t.decimal :price, precision: 10, scale: 2
            t.string :slug, index: { unique: true }
            t.string :code, null: false, limit: 20, index: { unique: true }
            t.references :user, foreign_key: true
            t.json :tags, index: true
            t.timestamps
          end
        end
      end
    RUBY
    db("new", "add_price_to_items", "price:decimal{8,2}!", "owner:belongs_to")
    expect(read(lines.first.delete_prefix("create  "))).to include(
      "    add_column :items, :price, :decimal, null: false, precision: 8, scale: 2\n" \
      "    add_reference :items, :owner, foreign_key: true\n"
    )
    db("new", "remove_price_from_items", "price:decimal")
    expect(read(lines.first.delete_prefix("create  "))).to include("    remove_column :items, :price, :decimal\n")
    expect([db("new", "add_x_to_items", "x:strin"), err.string]).to match([1, /a field is name:type/])
    expect([db("new", "create_y", "price:decimal10"), err.string]).to match([1, /quotes around a field with braces/])
    expect([db("new", "tidy", "x:string"), err.string]).to match([1, /fields need a name like/])
  end

  it "prints the SQL of what it would do" do
    expect([db("migrate", "--sql"), out.string]).to match(
      [0,
       /CREATE TABLE IF NOT EXISTS schema_migrations .*BEGIN;\nCREATE TABLE "posts".*COMMIT;\n.*ADD COLUMN.*COMMIT;\n/m]
    )
    expect(database.query("select name from sqlite_master")).to eq([])
    db("migrate")
    expect([db("rollback", "--sql"), out.string]).to match([0, /DROP COLUMN.*DELETE FROM schema_migrations/m])
    expect([db("drop", "--sql"), lines.first]).to match([0, /a file, no SQL/])
    db("version")
    expect(lines).to eq(["20240102000000"])
  end

  it "prints what the database's own client can run" do
    skip "sqlite3 is not installed" unless system("sqlite3 -version", out: File::NULL, err: File::NULL)

    db("create")
    db("migrate", "--sql")
    message, status = Open3.capture2e("sqlite3", "#{root}/db/app.db", stdin_data: out.string)
    expect([message, status.exitstatus]).to eq(["", 0])
    expect([db("status"), lines]).to match([0, [/\Aup/, /\Aup/]])
  end

  each_database(:postgresql, :mysql) do
    let(:env) { { "DATABASE_URL" => fresh_url(kind).sub(%r{/[^/]+\z}, "/made_#{Process.pid}") } }
    let(:database) { AsyncRecord::Base.database }

    after { db("drop") }

    it "makes, fills, checks and removes a server's database" do
      expect([db("create"), lines]).to eq([0, ["made_#{Process.pid} created"]])
      expect([db("create"), lines]).to eq([0, ["made_#{Process.pid} exists"]])
      expect([db("migrate"), lines.size]).to eq([0, 2])
      db("dump")
      expect([db("check"), lines]).to eq([0, ["all is well: 20240102000000"]])
      before = read("db/schema.sql")
      expect([db("rollback", "-n", "2"), db("migrate")]).to eq([0, 0])
      expect(read("db/schema.sql")).to eq(before)
      expect([db("drop"), lines]).to eq([0, ["made_#{Process.pid} removed"]])
      expect([db("setup"), lines]).to match([0, [/created/, /loaded/, "nothing to migrate", /no db.seeds/]])
      expect([db("check"), read("db/schema.sql")]).to eq([0, before])
      expect([db("drop", "--sql"), lines.first]).to match([0, /\ADROP DATABASE .made_\d+.;\z/])
      expect([db("reset"), lines.first]).to eq([0, "made_#{Process.pid} removed"])
    end
  end

  it "merges the schema files of two branches" do
    skip "git is not installed" unless system("git --version", out: File::NULL, err: File::NULL)

    dumps = %w[base ours theirs].to_h do |name|
      one = sqlite_database
      versions = Array.new(10) { |number| 20_240_101_000_000 + (number * 1111) }
      versions << 20_240_401_101_413 unless name == "base"
      versions[-1] += 22_226 if name == "theirs"
      AsyncRecord::Migrator.new(one, folder: root, out: out).migrate
      versions.each { |version| one.query("insert into schema_migrations values (?)", version.to_s) }
      one.query("create table #{name} (a int)")
      write("#{name}.sql", AsyncRecord::SchemaDump.for(one).to_s)
      [name, one]
    end
    expect(dumps.size).to eq(3)
    merged, status = Open3.capture2("git", "merge-file", "-p", "ours.sql", "base.sql", "theirs.sql", chdir: root)
    expect(merged.scan(/VALUES \('(?:20240401101413|20240401123639)'\)/).size).to eq(2)
    expect(merged[/^-- Which.*/m]).not_to include("<<<<")
    expect(status.exitstatus).to be < 2
  end

  describe "for a program in one file" do
    let(:exe) { File.expand_path("../../../exe/fastr", __dir__) }

    def start(*command)
      environment = { "RUBYLIB" => Support::Processes::LIBRARY, "DATABASE_URL" => nil }
      output, status = Open3.capture2e(environment, RbConfig.ruby, exe, "db", *command, chdir: root)
      [status.exitstatus, output]
    end

    it "finds the database that the program names, without serving it" do
      write("app.rb", <<~RUBY)
        require "fastr"
        require "async_record"
        AsyncRecord.connect "sqlite:own.db"
        class Post < AsyncRecord::Base; end
        get("/") { Post.count.to_s }
        puts "the program"
        Fastr.run(Fastr.application, port: 1)
        raise "served"
      RUBY
      expect(start("migrate")).to match([0, /\Athe program\n20240101000000 CreatePosts  up .*\n2.*\n\z/])
      expect(File.exist?("#{root}/own.db")).to be(true)
      write("db/seeds.rb", "Post.create!(title: 'seed'); puts Post.count")
      expect(start("seed")).to match([0, /^1\n/])
    end

    it "reads the file that -c names, also one that asks for tables that are not there yet" do
      write("other.rb", <<~RUBY)
        require "async_record"
        AsyncRecord.connect "sqlite:other.db"
        puts AsyncRecord.database.query("select count(*) from posts")
      RUBY
      expect(start("-c", "other.rb", "migrate")).to match(
        [0,
         /\Aother\.rb was read up to an error of the database: no such table: posts.*\n20240101000000 CreatePosts  up/]
      )
      expect(start("version", "--config", "other.rb")).to match([0, /20240102000000\n\z/])
      expect(start("migrate", "-c", "nope.rb")).to match([1, /\Athere is no nope.rb here/])
    end

    it "migrates a program that refuses to start while it is behind" do
      write("app/config/routes.rb", "")
      write("app/config/init.rb", <<~RUBY)
        require "async_record"
        AsyncRecord.connect "sqlite:own.db"
        AsyncRecord.check_pending!
      RUBY
      expect(start("status")).to match([0, /\Adown/])
      expect(start("migrate")).to match([0, /CreatePosts  up/])
    end

    it "says where a program is wrong" do
      write("app.rb", "require 'async_record'\nAsyncRecord.connect 'sqlite:own.db'\nnonsense\n")
      expect(start("status")).to match([1, /\Aapp.rb:3: undefined local variable/])
    end
  end
end
