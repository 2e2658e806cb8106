# frozen_string_literal: true

# A program that ends, in whatever way, while statements, streams and listeners run: at once, with its own exit code.
RSpec.describe "AsyncRecord in a program that ends", limit: 90 do
  include Support::Programs

  each_database do
    # What is in flight when the end comes: a stream that waits for its reader, a statement, a transaction, a listener.
    def in_flight
      <<~RUBY
        require "async_record"
        class Note < AsyncRecord::Base; end
        $stdout.sync = true
        database = AsyncRecord::Database.new(ENV.fetch("DATABASE_URL"), size: 6)
        Note.set_connection(database)
        Note.count
        streaming = Queue.new
        Thread.new { database.stream("select * from notes", batch: 1) { |row| streaming << row; sleep } }
        streaming.pop
        #{"Thread.new { database.query(#{sleep_sql(30).inspect}) }" unless kind == :sqlite}
        #{"AsyncRecord.listen('jobs', database: database) { |*| nil }.wait" if kind == :postgresql}
        #{unless kind == :sqlite
            "AsyncRecord.begin(database: database).query(\"insert into notes (body) values ('x')\")"
          end}
        sleep 0.2
      RUBY
    end

    before { create_notes(*Array.new(30) { |index| "note #{index}" }) }

    def run(ending)
      output = status = nil
      took = elapsed { output, status = run_ruby(in_flight + ending, env: { "DATABASE_URL" => database.url }) }
      expect(took).to be < relaxed(20)
      [output, status]
    end

    def left_nothing
      expect(witness("select count(*) from notes")).to eq([["30"]])
    end

    it "exits with its code" do
      output, status = run("exit 3")
      expect([output, status.exitstatus]).to eq(["", 3])
      left_nothing
    end

    it "ends with its last line" do
      expect(run("puts :last").then { |output, status| [output, status.exitstatus] }).to eq(["last\n", 0])
      left_nothing
    end

    it "says what it raised" do
      output, status = run("raise 'the end'")
      expect([output, status.exitstatus]).to match([/the end \(RuntimeError\)/, 1])
    end

    it "asks the database in at_exit, also after `exit`" do
      output, status = run("at_exit { puts \"at exit: \#{Note.count}\" }; exit 4")
      expect([output, status.exitstatus]).to match([/\Aat exit: 3[01]\n\z/, 4])
    end

    it "dies of SIGTERM as of a signal, and runs at_exit before" do
      output, status = run('at_exit { puts "bye" }; Process.kill(:TERM, Process.pid); sleep 10; puts "alive"')
      expect([output.include?("bye"), output.include?("alive"), status.termsig || (status.exitstatus - 128)])
        .to eq([true, false, 15])
      left_nothing
    end

    it "ends at once by exit!" do
      expect(run("exit! 5").last.exitstatus).to eq(5)
      left_nothing
    end

    it "forks, the child asks and ends, and the parent goes on" do
      output, status = run(<<~RUBY)
        child = fork { puts "child: \#{Note.count}"; exit 6 }
        puts Process.wait2(child).last.exitstatus, Note.count.between?(30, 31), streaming.empty?
        exit 7
      RUBY
      expect([output, status.exitstatus]).to match([/\Achild: 3[01]\n6\ntrue\ntrue\n\z/, 7])
      left_nothing
    end
  end
end
