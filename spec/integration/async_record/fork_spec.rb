# frozen_string_literal: true

require "open3"

# A forked child makes connections of its own; the parent's stay the parent's, also when the child collects or ends.
RSpec.describe "AsyncRecord and fork", limit: 60 do
  include Support::Programs

  each_database do
    before { create_notes("first") }

    it "serves children of a parent that used the database, and the parent meanwhile" do
      output = script(<<~RUBY)
        Note.count
        children = Array.new(4) do |number|
          fork do
            5.times { |turn| Note.create!(body: "\#{number} \#{turn}") }
            AsyncRecord.transaction { Note.create!(body: "\#{number} last") }
            GC.start
          end
        end
        20.times { Note.count && GC.start }
        puts children.map { |pid| Process.wait2(pid).last.success? }.uniq.inspect, Note.count
      RUBY
      expect(output).to eq("[true]\n25\n")
      expect(witness("select count(*) from notes")).to eq([["25"]])
    end

    it "gives a child callbacks as well" do
      output = script(<<~RUBY)
        queue = Queue.new
        Note.count { |count| queue << count }
        puts queue.pop
        Process.wait(fork { Note.count { |count| queue << count + 10 }; puts queue.pop })
        Note.count { |count| queue << count + 20 }
        puts queue.pop
      RUBY
      expect(output).to eq("1\n11\n21\n")
    end

    it "lets a child collect garbage before and after it has threads of its own" do
      output = script(<<~RUBY)
        AsyncRecord.transaction do
          Note.create!(body: "in a transaction")
          Process.wait(fork do
            50.times { Array.new(10_000) { Object.new } && GC.start }
            puts Note.count
            GC.start
          end)
          puts $?.success?
        end
      RUBY
      expect(output).to eq("1\ntrue\n")
    end

    it "leaves the parent's open transaction alone, however the child ends" do
      output = script(<<~RUBY)
        ending = [-> { exit }, -> { exit!(0) }, -> { Process.kill(:KILL, Process.pid) }, -> { GC.start }]
        AsyncRecord.transaction do
          Note.create!(body: "in a transaction")
          ending.each { |work| Process.wait(fork(&work)) }
          puts Note.count
        end
        puts Note.count
      RUBY
      expect(output).to eq("2\n2\n")
    end

    it "does not let a child into the parent's transaction" do
      output = script(<<~RUBY)
        AsyncRecord.transaction do
          Note.first
          Process.wait(fork { puts Note.count })
          Note.create!(body: "second")
        end
        puts Note.count
      RUBY
      expect(output).to eq("1\n2\n")
    end

    it "refuses the parent's transaction in a child, by name and at the end of its block" do
      output = script(<<~RUBY)
        AsyncRecord.transaction do |tx|
          pid = fork do
            Note.using(tx).count
          rescue AsyncRecord::TransactionClosed => error
            puts error.message
          end
          Process.wait(pid)
          if (pid = fork)
            Process.wait(pid)
            Note.create!(body: "second")
          end
        end
        puts Note.count
      RUBY
      expect(output).to eq("this transaction belongs to the parent process; begin one here\n1\n2\n")
    end

    it "works in a grandchild, and in a fork from inside the reactor" do
      output = script(<<~RUBY)
        require "fastr/reactor"
        Process.wait(fork { Note.count; Process.wait(fork { puts "grandchild \#{Note.count}" }) })
        Fastr::Reactor.run do
          pid = fork { puts "child \#{Note.count}"; exit!(0) }
          Process.wait(pid)
          puts "parent \#{Note.count}"
          Fastr::Reactor.stop
        end
      RUBY
      expect(output).to eq("grandchild 1\nchild 1\nparent 1\n")
    end

    it "works after Process.daemon" do
      output = script(<<~RUBY)
        Note.create!(body: "second")
        reader, writer = IO.pipe
        fork do
          Process.daemon(true, true)
          Note.create!(body: "by the daemon")
          queue = Queue.new
          Note.count { |count| queue << count }
          writer.puts(queue.pop)
        end
        writer.close
        puts reader.read, Note.count
      RUBY
      expect(output).to eq("3\n3\n")
    end

    it "keeps test processes apart that have a database each" do
      urls = { "1" => database.url, "2" => fresh_url }
      open_database(urls["2"]).execute("create table notes (id #{column(:id)}, body text)")
      children = urls.map do |number, url|
        Thread.new { script(<<~RUBY, env: { "DATABASE_URL" => url }) }
          Note.delete_all
          50.times { Note.create!(body: "#{number}") }
          puts Note.distinct.pluck(:body).inspect, Note.count
        RUBY
      end
      expect(children.map(&:value)).to eq(["[\"1\"]\n50\n", "[\"2\"]\n50\n"])
    end
  end
end
