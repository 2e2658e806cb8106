# frozen_string_literal: true

require "rbconfig"

# The servers that other specs rely on: nothing of the library is used here.
RSpec.describe Support::Servers do
  def owner_of_servers(code)
    IO.popen([RbConfig.ruby, "-r", File.expand_path("../support/servers", __dir__), "-e", code], "r+")
  end

  def alive?(pid)
    state = File.read("/proc/#{pid}/stat")[/\) (\S)/, 1]
    state != "Z"
  rescue Errno::ENOENT
    false
  end

  { postgresql: "SELECT version()", mysql: "SELECT concat('MariaDB ', version())" }.each do |kind, version|
    describe "the #{kind} server", kind do
      let(:server) { described_class.server(kind) }

      def create_table(name)
        server.sql("CREATE TABLE #{name} (id int); INSERT INTO #{name} VALUES (1);")
      end

      it "answers its own client" do
        expect(server.sql(version)).to match(/PostgreSQL|MariaDB/)
      end

      it "keeps port and data when it is killed and started again" do
        create_table("kept")
        port = server.port
        server.restart
        expect([server.port, server.sql("SELECT id FROM kept").strip]).to eq([port, "1"])
      ensure
        server.sql("DROP TABLE kept")
      end

      it "refuses connections while it is stopped" do
        server.stop
        expect { TCPSocket.new("127.0.0.1", server.port) }.to raise_error(Errno::ECONNREFUSED)
      ensure
        server.start
      end

      it "says what was wrong with a statement" do
        expect { server.sql("SELECT nonsense") }.to raise_error(described_class::Error, /nonsense/)
      end

      it "gives each example a database of its own, without those of earlier examples" do
        server.create("first_one")
        described_class.forget_databases
        server.create("second_one")
        expect { server.sql("SELECT 1", database: "first_one") }.to raise_error(described_class::Error, /first_one/)
        expect(server.sql("SELECT 1", database: "second_one").strip).to eq("1")
      end

      it "shows rows with NULL, empty texts, line breaks and tabs to the witness" do
        rows = Support::Databases::Witness.ask(server.url, "SELECT 'a\nb\tc', NULL, '' UNION ALL SELECT 'é', '1', '2'")
        expect(rows).to contain_exactly(["a\nb\tc", nil, ""], %w[é 1 2])
      end

      it "goes when its owner is killed, with its data" do
        owner = owner_of_servers(<<~RUBY)
          server = Support::Servers.server(:#{kind})
          puts server.folder, File.read(server.recipe.pid_file).to_i
          $stdout.flush
          sleep
        RUBY
        folder = owner.gets.chomp
        pid = owner.gets.to_i
        expect(alive?(pid)).to be(true)
        Process.kill(:KILL, owner.pid)
        eventually(within: 10) { !alive?(pid) && !File.exist?(folder) }
      end

      it "goes when its owner ends by a signal" do
        owner = owner_of_servers(<<~RUBY)
          server = Support::Servers.server(:#{kind})
          puts server.folder
          $stdout.flush
          sleep
        RUBY
        folder = owner.gets.chomp
        Process.kill(:TERM, owner.pid)
        owner.close
        expect(File.exist?(folder)).to be(false)
      end
    end
  end

  it "names bin/setup when a program is missing" do
    expect { described_class::Recipe.program("no-such-server") }
      .to raise_error(described_class::Error, %r{bin/setup test})
  end

  it "leaves the servers to the parent when a forked child ends" do
    server = described_class.postgresql
    Process.wait(fork { described_class.close && exit!(0) })
    expect(server.sql("SELECT 1").strip).to eq("1")
  end

  each_database(:sqlite) do
    it "asks by sqlite3 what was stored" do
      database.execute("create table notes (body text, size integer)")
      database.execute("insert into notes values (?, ?)", "a\nb", nil)
      expect(witness("select body, size from notes")).to eq([["a\nb", nil]])
    end
  end
end
