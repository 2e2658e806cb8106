# frozen_string_literal: true

require "logger"
require "stringio"

RSpec.describe AsyncRecord, ".log" do
  let(:database) { sqlite_database }
  let(:out) { StringIO.new }
  let(:logger) { Logger.new(out, formatter: ->(severity, _, _, message) { "#{severity} #{message}\n" }) }

  before do
    database.query("create table users (id integer primary key, name text)")
    model("User", database)
    User.create!(name: "ann")
  end

  after do
    described_class.log = nil
    described_class.slow = 0.1
  end

  def lines
    out.string.lines(chomp: true)
  end

  it "writes one line for each statement: times, rows, SQL, outlined values, the line that asked" do
    described_class.log = logger
    User.where(name: "secret").to_a
    times = /\d+\.\dms \(queue \d+\.\d, db \d+\.\d, decode \d+\.\d, ruby \d+\.\d\)/
    sql = 'SELECT "users"."id", "users"."name" FROM "users" WHERE "users"."name" = ?'
    expect(lines.size).to eq(1)
    expect(lines.first)
      .to match(/\ADEBUG User Load #{times} rows=0 #{Regexp.escape(sql)} \["\[String 6\]"\] #{__FILE__}:/)
  end

  it "names the transaction, the request and the failure" do
    described_class.log = logger
    User.transaction { User.count }
    expect { database.query("select\n  nonsense") }.to raise_error(AsyncRecord::QueryError)
    expect(lines.first).to match(/rows=1 tx=\d+ SELECT COUNT/)
    expect(lines.last).to match(/ select nonsense FAILED AsyncRecord::QueryError: .*nonsense/)
  end

  it "warns of what is slow, and of nothing else above debug" do
    logger.level = Logger::WARN
    described_class.log = logger
    User.count
    described_class.slow = 0.000001
    User.count
    described_class.slow = nil
    User.count
    expect(lines.map { |line| line[0, 21] }).to eq(["WARN SLOW User Count "])
  end

  it "can be turned off again" do
    described_class.log = logger
    described_class.log = nil
    User.count
    expect([lines, described_class.log]).to eq([[], nil])
  end

  it "takes the library's own warnings" do
    described_class.log = logger
    subscription = described_class.subscribe(:query) { raise "mine" }
    User.count
    expect(lines).to include("WARN a subscriber raised RuntimeError: mine")
  ensure
    described_class.unsubscribe(subscription)
  end

  it "is set by an application in development, unless it is set already" do
    allow(Fastr).to receive(:development?).and_return(true)
    application = Fastr::Application.new { get("/") { User.count.to_s } }
    expect(application.settings.log_queries).to be(true)
    expect(described_class.log).to be_a(Logger)
    own = described_class.log = logger
    Fastr::Application.new { get("/") { "" } }
    expect(described_class.log).to be(own)
  end

  it "is not set by an application elsewhere" do
    Fastr::Application.new { get("/") { "" } }
    expect(described_class.log).to be_nil
  end
end
