# frozen_string_literal: true

require_relative "../../support/databases/cutting_proxy"

# A connection may end at any byte: while it is made, while somebody logs in, within a statement, within its rows.
RSpec.describe AsyncRecord, "whose connection is cut", limit: 240 do
  each_database(:postgresql, :mysql) do
    let(:proxy) { Support::Databases::CuttingProxy.new(server.port) }

    before do
      database.execute("create table notes (id #{column(:id)}, body #{column(:string)})")
      proxy
    end

    after { proxy.close }

    def through_proxy
      url = database.url.sub(%r{:\d+/}, ":#{proxy.port}/")
      AsyncRecord::Database.new(url, size: 1, connect_timeout: 3, pool_timeout: 3)
    end

    # A prepared statement with rows, a write, a transaction.
    def work(connected, body)
      rows = connected.query("select id, body from notes where body <> ? order by id limit 20", body)
      connected.execute("insert into notes (body) values (?)", body)
      AsyncRecord.transaction(database: connected) do
        connected.execute("insert into notes (body) values (?)", body)
        rows.size
      end
    end

    # @return [Object] the error, or what came of it
    def attempt(connected, body)
      Timeout.timeout(10) { work(connected, body) }
    rescue AsyncRecord::Error => error
      error
    end

    def kept(body)
      database.query("select count(*) as n from notes where body = ?", body).first["n"]
    end

    %i[up down].each do |direction|
      it "is told by a typed error at every byte #{direction}, writes nothing twice, hangs nowhere and heals" do
        30.times { |index| database.execute("insert into notes (body) values (?)", "row #{index}") }
        whole = through_proxy
        expect(work(whole, "whole")).to eq(20)
        total = proxy.passed.fetch(direction)
        whole.close
        cuts = [*1..4, *Array.new(60) { |index| total * index / 60 }].reject(&:zero?).uniq
        outcomes = cuts.each_with_index.map do |after, index|
          proxy.cut(direction, after, reset: index.odd?)
          connected = through_proxy
          outcome = attempt(connected, "cut #{after}")
          proxy.cut_nothing
          expect(outcome).to be_a(AsyncRecord::ConnectionError).or(be_an(AsyncRecord::TransactionClosed)).or(eq(20))
          # A first statement that only reads is repeated on another connection; what is answered is done, once.
          expect(kept("cut #{after}")).to outcome == 20 ? eq(2) : be_between(0, 2)
          expect_healed(connected) if (index % 6).zero?
          connected.close
          outcome
        end
        expect(outcomes.grep(AsyncRecord::ConnectionLost).size).to be > 5
        expect(outcomes.count(20)).to be < outcomes.size / 4
      end
    end

    # After an attempt that failed there is none for up to a second.
    def expect_healed(connected)
      rows = eventually do
        connected.query("select 1 as one")
      rescue AsyncRecord::ConnectionError
        nil
      end
      expect([rows, connected.stats[:busy], connected.stats[:waiting]]).to eq([[{ "one" => 1 }], 0, 0])
    end
  end
end
