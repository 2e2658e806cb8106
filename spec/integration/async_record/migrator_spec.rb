# frozen_string_literal: true

require "async_record/cli"
require "stringio"

RSpec.describe AsyncRecord::CLI do
  let(:root) { sqlite_folder }
  let(:out) { StringIO.new }
  let(:err) { StringIO.new }
  let(:url) { "sqlite:db/app.db" }
  let(:env) { { "DATABASE_URL" => url } }
  let(:database) { AsyncRecord::Base.database }

  before do
    FileUtils.mkdir_p(File.join(root, "db/migrate"))
    write("20240101000000_create_posts.rb", <<~RUBY)
      class CreatePosts < AsyncRecord::Migration
        def change
          create_table(:posts) { |t| t.string :title, null: false }
        end
      end
    RUBY
    write("20240102000000_add_slug.rb", <<~RUBY)
      class AddSlug < AsyncRecord::Migration
        def change
          add_column :posts, :slug, :string, unique: true
          up_only { execute "update posts set slug = title" }
        end
      end
    RUBY
    write("20240103000000_add_notes.up.sql",
          "create table notes (a text); -- one; two\ninsert into notes values ('x;y');")
    write("20240103000000_add_notes.down.sql", "drop table notes")
  end

  after { AsyncRecord.disconnect }

  def write(name, text)
    File.write(File.join(root, "db/migrate", name), text)
  end

  def db(*arguments)
    [out, err].each { |io| io.truncate(0).then { io.rewind } }
    described_class.run(arguments, out: out, err: err, root: root, env: env)
  end

  def lines
    out.string.lines.map(&:chomp)
  end

  it "makes the folder and the file, and removes them" do
    expect([db("create"), lines]).to eq([0, ["#{root}/db/app.db created"]])
    expect([db("create"), lines]).to eq([0, ["#{root}/db/app.db exists"]])
    expect([db("drop"), File.exist?("#{root}/db/app.db")]).to eq([0, false])
  end

  it "runs what has not run, one line each with milliseconds" do
    expect(db("migrate")).to eq(0)
    expect(lines).to match([/\A20240101000000 CreatePosts  up  [\d.]+ ms\z/, /\A20240102000000 AddSlug  up/,
                            /\A20240103000000 AddNotes  up/])
    expect(database.query("select a from notes")).to eq([{ "a" => "x;y" }])
    expect([db("migrate"), lines]).to eq([0, ["nothing to migrate"]])
  end

  it "keeps the versions as Rails does" do
    db("migrate")
    expect(database.query("select version from schema_migrations order by version").map { |row| row["version"] })
      .to eq(%w[20240101000000 20240102000000 20240103000000])
  end

  it "goes up to a version" do
    db("migrate", "--to", "20240102000000")
    db("version")
    expect(lines).to eq(["20240102000000"])
  end

  it "undoes the last one, or several" do
    db("migrate")
    expect([db("rollback"), lines]).to match([0, [/AddNotes  down/]])
    expect([db("rollback", "--step", "2"), lines]).to match([0, [/AddSlug  down/, /CreatePosts  down/]])
    expect([db("rollback"), lines]).to eq([0, ["nothing to roll back"]])
    expect(db("migrate")).to eq(0)
  end

  it "takes STEP from the environment" do
    env["STEP"] = "3"
    db("migrate")
    db("rollback")
    expect(lines.size).to eq(3)
    env["STEP"] = "many"
    expect([db("rollback"), err.string]).to eq([1, "fastr db: STEP is a number above 0, not \"many\"\n"])
  end

  it "says what has run" do
    expect([db("migrate", "--to", "20240101000000"), err.string]).to eq([0, ""])
    expect([db("status"), err.string, *lines]).to eq([0, "", "up       20240101000000  CreatePosts",
                                                      "down     20240102000000  AddSlug",
                                                      "down     20240103000000  AddNotes"])
  end

  it "asks for the state of a database without touching it" do
    db("status")
    expect(lines.first).to start_with("down")
    expect(database.query("select name from sqlite_master")).to eq([])
  end

  it "prints the statements instead of running them" do
    db("migrate", "--sql")
    expect(lines).to include(start_with('CREATE TABLE "posts" ("id" INTEGER PRIMARY KEY AUTOINCREMENT'),
                             "INSERT INTO schema_migrations (version) VALUES ('20240101000000');")
    expect(database.query("select name from sqlite_master")).to eq([])
  end

  it "leaves nothing of a migration that fails, and says so" do
    write("20240104000000_broken.rb", <<~RUBY)
      class Broken < AsyncRecord::Migration
        def up
          create_table :half
          execute "nonsense"
        end
      end
    RUBY
    expect(db("migrate")).to eq(1)
    expect(err.string).to match(/\Afastr db: 20240104000000 Broken up failed: .*nonsense.*; nothing of it was kept\n\z/)
    expect(database.query("select name from sqlite_master where name = 'half'")).to eq([])
    db("version")
    expect(lines).to eq(["20240103000000"])
  end

  it "refuses to go on when a file was changed after it ran" do
    db("migrate")
    write("20240101000000_create_posts.rb", "class CreatePosts < AsyncRecord::Migration; end")
    expect(db("migrate")).to eq(1)
    expect(err.string).to include("20240101000000_create_posts.rb was changed after it ran")
    db("status")
    expect(lines.first).to start_with("changed")
  end

  it "refuses to go on when a file is missing, except where Rails ran it" do
    db("migrate")
    File.delete(File.join(root, "db/migrate/20240102000000_add_slug.rb"))
    expect([db("migrate"), err.string]).to match([1, /migration 20240102000000 ran on this database, but/])
    database.query("delete from schema_migration_checksums")
    expect(db("migrate")).to eq(0)
    db("status")
    expect(lines[1]).to eq("missing  20240102000000  (no file)")
    db("rollback")
    expect(db("rollback")).to eq(1)
  end

  it "refuses two files of one version" do
    write("20240101000000_again.rb", "")
    expect([db("migrate"), err.string]).to match([1, /two migrations have the version 20240101000000/])
  end

  it "refuses a file without its class" do
    write("20240104000000_other.rb", "class Else < AsyncRecord::Migration; end")
    expect([db("migrate"), err.string]).to match([1, /must define `class Other < AsyncRecord::Migration`/])
  end

  it "runs each migration once when two migrate at the same time" do
    db("create")
    databases = Array.new(2) { AsyncRecord::Database.new("sqlite:#{root}/db/app.db") }
    sqlite_databases.concat(databases)
    counts = databases.map do |one|
      Thread.new { AsyncRecord::Migrator.new(one, folder: "#{root}/db/migrate", out: StringIO.new).migrate }
    end.map(&:value)
    expect(counts.all?(Integer)).to be(true)
    expect(databases.first.query("select count(*) as n from notes")).to eq([{ "n" => 1 }])
  end

  it "writes a migration" do
    expect(db("new", "AddPriceToPosts")).to eq(0)
    path = lines.first.delete_prefix("create  ")
    expect(path).to match(%r{\Adb/migrate/\d{14}_add_price_to_posts\.rb\z})
    expect(File.read(File.join(root, path))).to include("class AddPriceToPosts < AsyncRecord::Migration")
    expect([db("new", "add_price_to_posts"), err.string]).to match([1, /exists already/])
    expect([db("new", "../evil"), db("new")]).to eq([1, 1])
    expect(db("migrate")).to eq(0)
  end

  it "seeds, and starts over" do
    File.write(File.join(root, "db/seeds.rb"),
               "AsyncRecord.database.query(\"insert into posts (title) values ('seed')\")")
    2.times { expect(db("reset")).to eq(0) }
    expect(database.query("select title from posts")).to eq([{ "title" => "seed" }])
  end

  it "refuses to destroy the production database, unless forced" do
    env["APP_ENV"] = "production"
    db("create")
    expect([db("drop"), err.string]).to match([1, /production database; say --force/])
    expect(db("reset", "--force")).to eq(0)
  end

  it "explains itself, and a wrong command" do
    expect([db, lines.size]).to match([0, be > 8])
    expect([db("migrat"), err.string]).to eq([2, "fastr db: there is no command migrat; did you mean migrate?\n"])
    expect([db("migrate", "--nonsense"), err.string]).to eq([1, "fastr db: invalid option: --nonsense\n"])
    expect([db("status", "extra"), err.string]).to eq([1, "fastr db: status takes no \"extra\"\n"])
  end

  it "says how to name a database when there is none" do
    env.delete("DATABASE_URL")
    expect([db("migrate"), err.string]).to match([1, /DATABASE_URL/])
  end
end
