# frozen_string_literal: true

require "async_record/migrator"

# Several processes, killed processes, tables that others use.
RSpec.describe "Migrations among others" do
  program = <<~RUBY
    require "async_record/migrator"
    $stdout.sync = true
    begin
      AsyncRecord::Migrator.new(AsyncRecord::Database.new(ENV.fetch("URL")), folder: ENV.fetch("FOLDER"),
                                wait: Float(ENV.fetch("WAIT", 60))).migrate
    rescue AsyncRecord::Error => error
      puts error.message
    end
  RUBY

  define_method(:start) do |**env|
    env = { "URL" => database.url, "FOLDER" => migrations }.merge(env.transform_keys(&:to_s))
    (@started ||= []) << IO.popen([env, RbConfig.ruby, "-I", Support::Processes::LIBRARY, "-e", program,
                                   { err: %i[child out] }])
    @started.last
  end

  after do
    @started&.each do |io|
      Process.kill(:KILL, io.pid) unless io.closed?
    rescue Errno::ESRCH
      nil
    ensure
      io.close
    end
  end

  # A migration that says where it is and waits there for a file.
  def waiting(name, before: "create_table :half")
    migration(name, <<~RUBY)
      def up
        #{before}
        puts "in the middle"
        sleep 0.02 until File.exist?(#{"#{migrations}/go".inspect}) || ENV["GO"]
        create_table :whole
      end
    RUBY
  end

  def go
    File.write("#{migrations}/go", "")
  end

  each_database do |kind|
    it "run once although two processes migrate" do
      waiting("slow")
      change("second", "create_table :second")
      one = start
      expect(one.gets).to eq("in the middle\n")
      two = start
      expect(two.gets).to eq("waiting for another process that migrates this database …\n")
      go
      expect(one.read).to match(/\A20240101000000 Slow  up .*\n20240101000001 Second  up .*\n\z/)
      expect(two.read).to eq("")
      expect(migrator.status.map(&:state)).to eq(%i[up up])
      expect(migrate).to eq(0)
    end

    it "give up waiting and say what for" do
      waiting("slow")
      one = start
      expect(one.gets).to eq("in the middle\n")
      expect { migrator(wait: 0.3).migrate }
        .to raise_error(AsyncRecord::MigrationError, /another process has been migrating this database for 0\.3 s/)
      go
      expect(one.read).to include("Slow  up")
    end

    it "leave nothing locked when a process is killed in the middle" do
      waiting("slow")
      one = start
      expect(one.gets).to eq("in the middle\n")
      Process.kill(:KILL, one.pid)
      one.read
      left = eventually_free { database.schema.table("half") ? 1 : 0 }
      expect(left).to eq(kind == :mysql ? 1 : 0)
      expect(migrator.status.map(&:state)).to eq([kind == :mysql ? :unfinished : :down])
      waiting_again(kind)
      go
      expect(migrate).to eq(1)
      expect(said.string.include?("was cut off in the middle the last time")).to be(kind == :mysql)
      expect(migrator.status.map(&:state)).to eq([:up])
    end

    # The server notices a moment later that the process is gone.
    def eventually_free
      AsyncRecord::Migrator.new(database, folder: "#{migrations}/none", out: said, wait: 15).migrate
      yield
    end

    # MySQL keeps what was made before.
    def waiting_again(kind)
      return if kind != :mysql

      FileUtils.rm(Dir.glob("#{migrations}/*.rb"))
      waiting("slow", before: "create_table :half, if_not_exists: true")
    end
  end

  each_database(:postgresql, :mysql) do |kind|
    before { alter { create_table(:users) { |t| t.string :name } } }

    # Keeps the table from being changed while the block runs.
    def occupied
      other = open_database
      AsyncRecord.transaction(database: other) do
        other.query("select * from users")
        yield
      end
    end

    it "give up soon when others use the table, and say what to do" do
      migration("add", "lock_timeout 1\ndef up = add_column(:users, :size, :integer)")
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      occupied do
        expect do
          migrate
        end.to raise_error(AsyncRecord::MigrationError, /others use the table .* within 1 s: .*nothing of it/)
      end
      expect(Process.clock_gettime(Process::CLOCK_MONOTONIC) - started).to be < 5
      expect(migrate).to eq(1)
    end

    it "wait two seconds unless told otherwise" do
      change("see", "say select_value(#{limit_sql.inspect}).to_s")
      migrate
      expect(said.string).to match(/^  2s?$/)
      expect(database.query(limit_sql).first.values.first.to_s).not_to match(/\A2s?\z/)
    end

    define_method(:limit_sql) do
      kind == :mysql ? "select @@lock_wait_timeout" : "select current_setting('lock_timeout')"
    end

    it "stop a statement that takes too long" do
      migration("sleep", "statement_timeout 0.3\ndef up = execute(#{sleep_sql(10).inspect})")
      expect { migrate }.to raise_error(AsyncRecord::MigrationError, /nothing of it was kept/)
    end
  end

  each_database(:sqlite) do
    it "stop a statement that takes too long" do
      migration("sleep", "statement_timeout 0.3\ndef up = execute(#{sleep_sql(10).inspect})")
      expect { migrate }.to raise_error(AsyncRecord::MigrationError, /nothing of it was kept/)
    end

    it "give up soon when another process writes" do
      migration("add", "lock_timeout 0.5\ndef up = create_table(:a)")
      other = start_writer
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      expect { migrate }.to raise_error(AsyncRecord::MigrationError, /nothing of it was kept/)
      expect(Process.clock_gettime(Process::CLOCK_MONOTONIC) - started).to be < 4
      other.close
      expect(migrate).to eq(1)
    end

    # Another process in the middle of a transaction, until its input ends.
    def start_writer
      migrator.migrate(0)
      code = 'require "async_record"; d = AsyncRecord::Database.new(ENV.fetch("URL")); ' \
             'AsyncRecord.transaction(database: d) { d.query("create table b (a)"); STDOUT.syswrite("busy\n"); gets }'
      env = { "URL" => database.url }
      io = IO.popen([env, RbConfig.ruby, "-I", Support::Processes::LIBRARY, "-e", code], "r+")
      expect(io.gets).to eq("busy\n")
      io
    end

    it "leave no lock file behind" do
      change("first", "create_table :a")
      migrate
      expect(Dir.glob("#{database.path}-migrating")).to eq([])
    end
  end

  each_database(:postgresql) do
    before { alter { create_table(:users) { |t| t.string :name } } }

    it "build an index while others write, after the transaction of the rest" do
      change("add", "add_column :users, :slug, :string\nadd_index :users, :slug, unique: true, concurrently: true")
      expect(migrate).to eq(1)
      expect(valid_indexes).to include("index_users_on_slug")
      expect(migrator.rollback).to eq(1)
      expect(valid_indexes).to eq(["users_pkey"])
    end

    it "leave no half-built index, and say what the rest did" do
      database.query("insert into users (name) values ('a'), ('a')")
      change("add", "add_column :users, :slug, :string\nadd_index :users, :name, unique: true, concurrently: true")
      expect do
        migrate
      end.to raise_error(AsyncRecord::MigrationError, /what ran before the error stays:\n  ALTER TABLE "users"/)
      expect(database.query("select 1 from pg_class where relname = 'index_users_on_name'")).to eq([])
    end

    it "build an index concurrently while another migrator waits" do
      migration("index", <<~RUBY)
        no_transaction!
        def up
          puts "in the middle"
          sleep 0.02 until File.exist?(#{"#{migrations}/go".inspect})
          add_index :users, :name, concurrently: true
        end
      RUBY
      one = start
      expect(one.gets).to eq("in the middle\n")
      two = start
      expect(two.gets).to start_with("waiting")
      go
      expect(one.read).to include("Index  up")
      expect(two.read).to eq("")
    end

    def valid_indexes
      database.query("select x.relname::text as name from pg_index i join pg_class x on x.oid = i.indexrelid " \
                     "join pg_class c on c.oid = i.indrelid where c.relname = 'users' and i.indisvalid order by 1")
              .map { |row| row["name"] }
    end
  end
end
