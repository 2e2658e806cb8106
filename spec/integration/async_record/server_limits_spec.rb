# frozen_string_literal: true

require_relative "../../support/databases/cutting_proxy"

# What a server refuses or bounds: its number of connections, TLS, the size of a value, prepared statements.
RSpec.describe AsyncRecord, "at the limits of a server", limit: 120 do
  each_database(:postgresql, :mysql) do
    def select_one(connected)
      connected.query("select 1 as one").first["one"]
    end

    describe "with a server that takes no more connections" do
      before { limit_connections }
      after { unlimit_connections }

      let(:most) { kind == :postgresql ? 20 : 10 }

      def limit_connections
        return server.sql("set global max_connections = #{most}") if kind == :mysql

        server.sql("alter system set max_connections = #{most}")
        server.restart
      end

      def unlimit_connections
        return server.sql("set global max_connections = 600") if kind == :mysql

        server.sql("alter system reset max_connections")
        server.restart
      end

      # @yield while all connections that the server has are taken
      def crowded
        crowd = open_database(database.url, size: most + 5, pool_timeout: 1)
        held = 0
        (most + 5).times do
          transactions << described_class.begin(database: crowd)
          held += 1
        rescue AsyncRecord::ConnectionError, AsyncRecord::PoolTimeout
          break
        end
        expect(held).to be_between(most - 6, most + 2)
        yield
      ensure
        transactions.each(&:rollback)
        crowd.close
      end

      let(:transactions) { [] }

      it "says so at once, names max_connections, and works again when there is room" do
        late = open_database(database.url, size: 2, pool_timeout: 10)
        crowded do
          took = elapsed { expect { select_one(late) }.to raise_error(AsyncRecord::ConnectionError, /max_connections/) }
          expect(took).to be < relaxed(3)
        end
        one = eventually do
          select_one(late)
        rescue AsyncRecord::ConnectionError
          nil
        end
        expect(one).to eq(1)
      end

      it "serves with the connections it has those who would need more" do
        early = open_database(database.url, size: 10, pool_timeout: 20)
        expect(select_one(early)).to eq(1)
        crowded do
          asked = Array.new(30) { -> { early.query(sleep_sql(0.02)) && 1 } }
          expect(in_fiber { described_class.gather(*asked) }).to eq([1] * 30)
        end
      end
    end

    it "goes on without TLS only if it was not asked for" do
      plain = without_tls
      { "disabled" => true, "preferred" => true, "required" => false, "verify_ca" => false }.each do |mode, works|
        ca = "#{server.recipe.certificates}/ca.pem"
        connected = open_database(tls_url(plain, mode, ca), size: 1)
        if works
          expect(select_one(connected)).to eq(1)
        else
          expect { select_one(connected) }.to raise_error(AsyncRecord::ConnectionError, /TLS|SSL/i)
        end
      end
    ensure
      @proxy&.close
    end

    # pgbouncer has none; a MySQL is made to say that it has none.
    # @return [Integer] a port
    def without_tls
      return Support::Servers.pgbouncer.port if kind == :postgresql

      @proxy = Support::Databases::CuttingProxy.new(server.port) do |greeting|
        capabilities = greeting.index("\0", 5) + 4 + 8 + 1 + 1
        greeting.setbyte(capabilities + 1, greeting.getbyte(capabilities + 1) & ~0x08)
        greeting
      end
      @proxy.port
    end

    def tls_url(port, mode, authority)
      place = database.url.sub(%r{:\d+/}, ":#{port}/")
      return "#{place}?ssl-mode=#{mode}&ssl-ca=#{authority}" if kind == :mysql

      mode = { "disabled" => "disable", "preferred" => "prefer", "required" => "require", "verify_ca" => "verify-ca" }
             .fetch(mode)
      "#{place}?pgbouncer=true&sslmode=#{mode}&sslrootcert=#{authority}"
    end

    it "keeps a bounded number of statements prepared, whatever is asked" do
      one = open_database(database.url, size: 1)
      before = prepared(one)
      600.times { |index| one.query("select ? as n, #{index} as m", index) }
      expect(prepared(one) - before).to be_between(1, 135)
      expect(one.query("select ? as n, 3 as m", 7)).to eq([{ "n" => kind == :mysql ? 7 : "7", "m" => 3 }])
        .or eq([{ "n" => 7, "m" => 3 }])
    end

    # @return [Integer] as the server counts them
    def prepared(connected)
      return connected.query("select count(*) as n from pg_prepared_statements").first["n"] if kind == :postgresql

      server.sql("show global status like 'Prepared_stmt_count'").split.last.to_i
    end
  end

  # A MySQL server takes this much only if it is told to.
  each_database do
    it "takes and gives 64 MB in one value" do
      server.sql("set global max_allowed_packet = #{160 << 20}") if kind == :mysql
      database.execute("create table files (id #{column(:id)}, body #{column(:binary)})")
      model("Document", database) { self.table_name = "files" }
      body = Random.bytes(1 << 20) * 64
      id = Document.create!(body: body).id
      expect(Document.find(id).body == body).to be(true)
      length = kind == :postgresql ? "octet_length(body)" : "length(body)"
      expect(database.query("select #{length} as n from files").first["n"]).to eq(body.bytesize)
    ensure
      server.sql("set global max_allowed_packet = #{16 << 20}") if kind == :mysql
    end
  end

  each_database(:mysql) do
    it "names max_allowed_packet for a value that the server does not take, and the connection goes on" do
      server.sql("set global max_allowed_packet = #{4 << 20}")
      database.execute("create table files (id #{column(:id)}, body #{column(:binary)})")
      expect { database.execute("insert into files (body) values (?)", ("x" * (5 << 20)).b) }
        .to raise_error(AsyncRecord::Error, /max_allowed_packet/)
      expect(database.query("select count(*) as n from files")).to eq([{ "n" => 0 }])
      expect { database.query("select repeat('x', #{5 << 20}) as t from files right join (select 1) as one on true") }
        .not_to raise_error
    ensure
      server.sql("set global max_allowed_packet = #{16 << 20}")
    end
  end
end
