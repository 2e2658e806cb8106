# frozen_string_literal: true

# Keeping two writers of one row apart.
RSpec.describe "Locking" do
  each_database do
    before do
      database.query("create table accounts (id #{column(:id)}, balance #{column(:integer)}, " \
                     "lock_version #{column(:integer)}, updated_at #{column(:time)})")
      model("Account", database)
    end

    describe "by lock_version" do
      it "counts changes" do
        account = Account.create!(balance: 1)
        expect(account.lock_version).to eq(0)
        account.update!(balance: 2)
        account.touch
        expect([account.lock_version, account.reload.lock_version, account.changed?]).to eq([2, 2, false])
      end

      it "notices that someone else was first" do
        Account.create!(balance: 1)
        first, second = Array.new(2) { Account.first }
        first.update!(balance: 2)
        expect { second.update!(balance: 3) }.to raise_error(AsyncRecord::StaleRecordError, /someone else changed/)
        expect { second.destroy }.to raise_error(AsyncRecord::StaleObjectError)
        expect { second.touch }.to raise_error(AsyncRecord::StaleRecordError)
        expect([Account.pick(:balance), second.reload.update!(balance: 4), Account.pick(:balance)]).to eq([2, true, 4])
      end

      it "notices that someone else deleted the row" do
        account = Account.create!(balance: 1)
        Account.delete_all
        expect { account.update!(balance: 2) }.to raise_error(AsyncRecord::StaleRecordError)
        expect { account.destroy! }.to raise_error(AsyncRecord::StaleRecordError)
      end

      it "calls back with the error" do
        account = Account.create!(balance: 1)
        Account.update_all(lock_version: 9)
        _, error = called_back { |done| account.update({ balance: 2 }) { |saved, e| done.call(saved, e) } }
        expect(error).to be_a(AsyncRecord::StaleRecordError)
      end

      it "counts from nothing, and takes its number back with a rollback" do
        database.query("insert into accounts (balance) values (1)")
        account = Account.first
        AsyncRecord.transaction(database: database) do
          account.update!(balance: 2)
          raise AsyncRecord::Rollback
        end
        expect([account.lock_version, account.changed]).to eq([nil, ["balance"]])
        expect([account.save!, account.lock_version]).to eq([true, 1])
      end

      it "can be another column, or none" do
        database.query("create table docs (id #{column(:id)}, revision #{column(:integer)}, " \
                       "lock_version #{column(:integer)})")
        doc = model("Doc", database) { self.locking_column = :revision }
        record = doc.create!
        record.update!(lock_version: 5)
        expect([record.revision, record.lock_version]).to eq([1, 5])
        doc.lock_optimistically = false
        record.update!(lock_version: 6)
        expect(record.reload.revision).to eq(1)
      end

      it "is none for subclasses of a model without, unless they say otherwise" do
        sub = Class.new(Account)
        Account.lock_optimistically = false
        expect(sub.create!(balance: 1).lock_version).to be_nil
        sub.lock_optimistically = true
        expect(sub.create!(balance: 1).lock_version).to eq(0)
      end
    end

    describe "by the database" do
      it "locks a record and reads it again" do
        account = Account.create!(balance: 1)
        Account.update_all(balance: 5)
        seen = account.with_lock { account.balance }
        expect(seen).to eq(5)
        AsyncRecord.transaction(database: database) { expect(account.lock!(:share)).to be(account) }
        AsyncRecord.transaction(database: database) { expect(account.lock!("FOR UPDATE NOWAIT").balance).to eq(5) }
      end

      it "takes a transaction, and a record without changes" do
        account = Account.create!(balance: 1)
        expect { account.lock! }.to raise_error(AsyncRecord::TransactionClosed, /with_lock/)
        account.balance = 2
        expect { account.with_lock { nil } }.to raise_error(AsyncRecord::RecordNotSaved, /balance/)
      end

      it "locks what a relation reads, in every way" do
        Account.create!(balance: 1)
        modes = [true, :update, :share, :nowait, :skip_locked, "FOR UPDATE", "for update skip locked", "FOR SHARE"]
        modes += [:no_key_update, :key_share, "FOR NO KEY UPDATE OF accounts NOWAIT"] if kind == :postgresql
        AsyncRecord.transaction(database: database) do
          expect(modes.map { |mode| Account.lock(mode).first.balance }).to eq([1] * modes.size)
        end
        expect(Account.lock(false).to_sql).not_to include("FOR")
      end

      it "refuses what is no lock" do
        ["FOR UPDATE; drop table accounts", "SKIP LOCKED", "FOR UPDATE OF a b", "FOR UPDATE OF \"a\"",
         ""].each do |text|
          expect { Account.lock(text) }.to raise_error(AsyncRecord::UnsafeSql), text
        end
        expect { Account.lock(:hard) }.to raise_error(ArgumentError, /:skip_locked/)
        expect { Account.lock(1) }.to raise_error(ArgumentError, /Integer/)
      end
    end
  end

  each_database(:postgresql, :mysql) do
    it "skips what another transaction has locked, or says so at once" do
      database.query("create table jobs (id #{column(:id)}, state #{column(:string)})")
      job = model("Job", database)
      job.insert_all!([{ state: "new" }, { state: "new" }])
      other = lambda do |mode|
        AsyncRecord.transaction(database: database) { job.order(:id).lock(mode).first&.id }
      rescue AsyncRecord::Error => error
        error.class
      end
      seen = AsyncRecord.transaction(database: database) do
        [job.order(:id).lock.first.id, *Thread.new { ["FOR UPDATE SKIP LOCKED", :nowait].map(&other) }.value]
      end
      expect(seen.first(2)).to eq([1, 2])
      expect(seen.last.ancestors).to include(AsyncRecord::QueryError)
    end
  end
end
