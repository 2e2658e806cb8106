# frozen_string_literal: true

require "open3"
require "tmpdir"

# AsyncRecord where there is no reactor, and beside other ways to the same database.
RSpec.describe "AsyncRecord in ordinary programs", limit: 60 do
  include Support::Programs

  # Takes some tenths of a second.
  def slow_sql
    return sleep_sql(0.3) unless kind == :sqlite

    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1500000) select count(*) from n"
  end

  each_database do
    before { create_notes("first") }

    it "works in a plain script, which ends by itself" do
      output = script(<<~RUBY)
        Note.create!(body: "second")
        puts Note.order(:id).pluck(:body).inspect
        puts AsyncRecord.transaction { Note.first.update(body: "changed") && Note.find(1).body }
        queue = Queue.new
        Note.count { |count| queue << count }
        puts queue.pop
      RUBY
      expect(output).to eq("[\"first\", \"second\"]\nchanged\n2\n")
    end

    it "works in irb" do
      output = command("irb", "-f", "--simple-prompt", "--nomultiline", "--noecho", input: <<~RUBY)
        require "async_record"
        class Note < AsyncRecord::Base; end
        puts "irb found \#{Note.find(1).body}"
      RUBY
      expect(output).to include("irb found first")
    end

    it "works in a rake task" do
      Dir.mktmpdir("fastr-rake") do |folder|
        File.write("#{folder}/Rakefile", <<~RUBY)
          require "async_record"
          class Note < AsyncRecord::Base; end
          task(:count) { puts "rake counts \#{Note.count}" }
        RUBY
        expect(command("rake", "-f", "#{folder}/Rakefile", "count")).to include("rake counts 1")
      end
    end

    it "lets other threads run while one waits" do
      turns = 0
      others = Thread.new { loop { (turns += 1) && sleep(0.001) } }
      took = elapsed { database.query(slow_sql) }
      expect(turns).to be > took * 200
    ensure
      others.kill
    end

    it "serves many threads at once" do
      notes = model("Note", database)
      threads = Array.new(16) do |number|
        Thread.new { Array.new(10) { |turn| notes.create!(body: "#{number} #{turn}").id } }
      end
      ids = threads.flat_map(&:value)
      expect([ids.uniq.size, witness("select count(*) from notes")]).to eq([160, [["161"]]])
    end

    it "keeps each thread's transaction to itself" do
      notes = model("Note", database)
      opened = Queue.new
      counted = Queue.new
      writer = Thread.new do
        AsyncRecord.transaction(database: database) do
          notes.create!(body: "unseen")
          opened << true
          counted.pop
          raise AsyncRecord::Rollback
        end
      end
      opened.pop
      expect(notes.count).to eq(1)
      counted << true
      writer.join
      expect(notes.count).to eq(1)
    end

    describe "beside ActiveRecord" do
      let(:active_record) do
        url = database.url.sub(/\Asqlite:/, "sqlite3:").sub(/\Amysql:/, "mysql2:")
        <<~RUBY
          require "active_record"
          ActiveRecord::Base.establish_connection(#{url.dump})
          class OldNote < ActiveRecord::Base
            self.table_name = "notes"
          end
        RUBY
      end

      it "shares a database, each with its own connections and transactions" do
        output = script(<<~RUBY)
          #{active_record}
          OldNote.create!(body: "by ActiveRecord")
          Note.create!(body: "by AsyncRecord")
          puts OldNote.order(:id).pluck(:body) == Note.order(:id).pluck(:body)
          ActiveRecord::Base.transaction { OldNote.create!(body: "x"); raise ActiveRecord::Rollback }
          AsyncRecord.transaction { Note.create!(body: "x"); raise AsyncRecord::Rollback }
          puts [OldNote.count, Note.count].inspect
          puts AsyncRecord.async { [OldNote.count, Note.count] }.await.inspect
        RUBY
        expect(output).to eq("true\n[3, 3]\n[3, 3]\n")
      end

      it "takes ActiveSupport's values and reads times as it does" do
        output = script(<<~RUBY)
          #{active_record}
          Time.zone = "Tokyo"
          OldNote.create!(body: "old", created_at: 2.days.ago)
          Note.create!(body: "new", created_at: 1.minute.ago)
          puts Note.where(created_at: 1.hour.ago..).pluck(:body).inspect
          puts (OldNote.find_by(body: "new").created_at - Note.find_by!(body: "new").created_at).abs < 0.001
          puts (OldNote.find_by(body: "old").created_at - Note.find_by!(body: "old").created_at).abs < 0.001
        RUBY
        expect(output).to eq("[\"new\"]\ntrue\ntrue\n")
      end

      it "makes the same JSON with ActiveSupport's to_json around" do
        output = script(<<~RUBY)
          #{active_record}
          puts Note.select(:id, :body).to_json, JSON.generate(Note.select(:id, :body)), Note.select(:id, :body).to_a.to_json
          puts({ note: Note.first.body, notes: Note.select(:id) }.to_json)
        RUBY
        rows = '[{"id":1,"body":"first"}]'
        expect(output).to eq("#{rows}\n#{rows}\n#{rows}\n{\"note\":\"first\",\"notes\":[{\"id\":1}]}\n")
      end
    end
  end
end
