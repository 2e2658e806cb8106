# frozen_string_literal: true

require "fastr/reactor"

# The calls of AsyncRecord 2010, verbatim, inside the reactor.
# rubocop:disable Style/HashSyntax -- verbatim
RSpec.describe "AsyncRecord 2010" do
  each_database do
    before do
      database = connection
      AsyncRecord::Base.set_connection(database)
      database.query("create table users (id #{column(:id)}, username varchar(40), age integer, " \
                     "created_at #{column(:time)})")
      database.query("create table widgets (id #{column(:id)})")
      %w[ann bob cyd dan eve fay gus].each_with_index do |name, index|
        database.query("insert into users (username, age, created_at) values (?, ?, '2010-06-01 12:00:00')",
                       name, index == 1 ? nil : 30 + index)
      end
      model("User") { set_table_name "users" }
      model("Widgets")
    end

    after { AsyncRecord::Base.set_connection(nil) }

    let(:connection) do
      options = { :database => File.join(sqlite_folder, "a.db") }
      unless kind == :sqlite
        url = URI(fresh_url)
        options = { :host => url.host, :port => url.port, :user => url.user, :database => url.path.delete_prefix("/") }
      end
      name = { :sqlite => :SQLite, :postgresql => :PostgreSQL, :mysql => :MySQL }.fetch(kind)
      AsyncRecord::Connection.const_get(name).new(options).connect.tap { |made| sqlite_databases << made }
    end

    def ask
      result = :none
      reactor do
        yield lambda { |*got|
          result = got.size > 1 ? got : got.first
          Fastr::Reactor.stop
        }
      end
      result
    end

    it "connects without any I/O, before the reactor runs" do
      path = File.join(sqlite_folder, "lazy.db")
      AsyncRecord::Connection::SQLite.new(:database => path).connect
      expect(File).not_to exist(path)
    end

    it "reads all with a limit: model objects with attribute methods" do
      users = ask { |done| User.all(:limit => 5) { |found| done.call(found) } }
      expect(users.map(&:username)).to eq(%w[ann bob cyd dan eve])
      expect(users).to all(be_a(User))
    end

    it "reads all without a limit" do
      expect(ask { |done| User.all { |users| done.call(users.size) } }).to eq(7)
    end

    it "finds by key, and the attributes are a Hash with String keys" do
      user = ask { |done| User.find(1) { |found| done.call(found) } }
      expect(user.username).to eq("ann")
      expect(user.attributes.keys.sort).to eq(%w[age created_at id username])
    end

    it "finds nil for a key that is not there" do
      expect(ask { |done| User.find(99) { |user| done.call(user) } }).to be_nil
    end

    it "casts the key to a number" do
      expect(ask { |done| User.find("1 or 1=1") { |user| done.call(user.username) } }).to eq("ann")
    end

    it "counts" do
      expect(ask { |done| User.count { |count| done.call(count) } }).to eq(7)
    end

    it "queries rows as Hashes" do
      rows = ask { |done| User.query("select username from users order by id limit 2") { |found| done.call(found) } }
      expect(rows.map(&:to_a)).to eq([[%w[username ann]], [%w[username bob]]])
    end

    it "gives typed values, and nil for NULL" do
      user = ask { |done| User.find(1) { |found| done.call(found) } }
      expect([user.id.class, user.age.class, user.created_at]).to eq([Integer, Integer, Time.utc(2010, 6, 1, 12)])
      expect(ask { |done| User.find(2) { |found| done.call(found.age) } }).to be_nil
    end

    it "raises NoMethodError for an unknown attribute, and respond_to? knows the known ones" do
      user = ask { |done| User.find(1) { |found| done.call(found) } }
      expect { user.no_such_column }.to raise_error(NoMethodError)
      expect([user.respond_to?(:username), user.respond_to?(:no_such_column)]).to eq([true, false])
    end

    it "names a table after its class" do
      expect(ask { |done| Widgets.count { |count| done.call(count) } }).to eq(0)
    end

    it "names it as in 2010 when told so" do
      AsyncRecord.legacy_table_names = true
      expect([model("Gadget").table_name, model("Widgets").table_name]).to eq(%w[gadget widgets])
    ensure
      AsyncRecord.legacy_table_names = false
    end

    it "runs queries on the connection" do
      expect(ask { |done| User.connection.query("select 1 as one") { |rows| done.call(rows) } }).to eq([{ "one" => 1 }])
    end

    it "runs any statement, one after the other" do
      rows = ask do |done|
        User.query("drop table if exists things") do
          User.query("create table things (id #{column(:id)}, name varchar(9))") do
            User.query("insert into things (name) values ('a')") do
              User.query("select name from things") { |found| done.call(found) }
            end
          end
        end
      end
      expect(rows).to eq([{ "name" => "a" }])
    end

    it "gives a failing query to the errback" do
      error = ask do |done|
        pending = User.query("select nonsense from nowhere") { raise "not here" }
        pending.errback { |e| done.call(e) }
      end
      expect(error).to be_a(AsyncRecord::QueryError)
    end

    it "gives a failing query to a block's second argument" do
      rows, error = ask { |done| User.query("select nonsense from nowhere") { |found, e| done.call(found, e) } }
      expect(rows).to be_nil
      expect(error.message).to include("nowhere")
    end

    it "gives a failing query that nobody takes to the reactor's error handler" do
      error = nil
      reactor do
        Fastr::Reactor.error_handler do |e|
          error = e
          Fastr::Reactor.stop
        end
        User.query("select nonsense from nowhere") { |_| raise "not here" }
      end
      expect(error).to be_a(AsyncRecord::QueryError)
    ensure
      Fastr::Reactor.error_handler(nil)
    end

    it "gives it to AsyncRecord.on_error where that is set" do
      AsyncRecord.on_error { |e| Fastr::Reactor.stop.then { @seen = e } }
      reactor { User.query("select nonsense from nowhere") { |_| raise "not here" } }
      expect(@seen).to be_a(AsyncRecord::QueryError)
    ensure
      AsyncRecord.on_error
    end

    it "waits in a fiber without a block" do
      out = nil
      reactor do
        Fastr::Reactor.next_tick do
          out = [User.find(1).username, User.all(:limit => 2).size, User.count,
                 User.find_by_sql("select username from users where id = 3").first.username]
          Fastr::Reactor.stop
        end
      end
      expect(out).to eq(["ann", 2, 7, "cyd"])
    end

    it "lets the reactor go on while queries run" do
      slow = "with recursive c(x) as (select 1 union all select x + 1 from c limit 300000) select count(*) from c"
      slow = sleep_sql(0.05) unless kind == :sqlite
      ticks = 0
      done = 0
      reactor do
        Fastr::Reactor.add_periodic_timer(0.005) { ticks += 1 }
        8.times { User.query(slow) { Fastr::Reactor.stop if (done += 1) == 8 } }
      end
      expect([done, ticks > 3]).to eq([8, true])
    end
  end

  %i[MySQL PostgreSQL].each do |name|
    it "says at the first query that no #{name} listens there, without the password" do
      connection = AsyncRecord::Connection.const_get(name).new(:host => "127.0.0.1", :port => free_port,
                                                               :user => "root", :password => "s3cret")
      expect(connection.connect.inspect).not_to include("s3cret")
      expect { connection.query("select 1") }.to raise_error(AsyncRecord::ConnectionRefused) { |error|
        expect(error.message).to match(/127\.0\.0\.1/).and(satisfy { |text| !text.include?("s3cret") })
      }
    end
  end
end
# rubocop:enable Style/HashSyntax
