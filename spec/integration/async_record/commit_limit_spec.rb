# frozen_string_literal: true

# A commit is never cancelled; a server that falls silent while it commits is not waited for without end.
RSpec.describe AsyncRecord, "committing on a server that falls silent", limit: 60 do
  each_database(:postgresql, :mysql) do
    it "gives the connection up after commit_timeout, says that the effect is unknown, and heals" do
      database.execute("create table notes (body varchar(20))")
      hasty = open_database(database.url, size: 1, commit_timeout: 0.4)
      transaction = described_class.begin(database: hasty)
      transaction.query("insert into notes values ('perhaps')")
      server.pause
      took = begin
        elapsed do
          expect { transaction.commit }.to raise_error(AsyncRecord::ConnectionLost, /commit_timeout.*unknown/)
        end
      ensure
        server.resume
      end
      expect(took).to be_between(0.3, 5)
      one = eventually do
        hasty.query("select count(*) as n from notes").first["n"]
      rescue AsyncRecord::ConnectionError
        nil
      end
      expect(one).to be_between(0, 1)
      expect(hasty.stats[:busy]).to eq(0)
    end
  end
end
