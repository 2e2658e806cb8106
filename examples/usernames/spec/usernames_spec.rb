# frozen_string_literal: true

require "tmpdir"

FOLDER = File.expand_path("..", __dir__)
ENV["FASTR_ENV"] = "test"
ENV["DATABASE_URL"] = "sqlite:#{Dir.mktmpdir("usernames-")}/test.sqlite3"

require "fastr/test"
require "fastr/test/logger"
require "async_record/cli"

RSpec.describe "usernames" do
  include Fastr::Test::Requests

  before(:all) do
    use_application(FOLDER)
    %w[migrate seed].each { |command| AsyncRecord::CLI.run([command], root: FOLDER, out: StringIO.new) }
  end

  before { use_application(FOLDER) }

  five = %w[ann bob cyd dan eve]

  it "sends five names, one per line, from a callback" do
    expect(get("/users").body).to eq(five.map { |name| "#{name}\n" }.join)
  end

  it "sends the same when the request's fiber waits" do
    expect(get("/users/awaited").body).to eq(get("/users").body)
  end

  it "sends them as JSON made in Rust" do
    expect(get("/users.json").json.map { |user| user["username"] }).to eq(five)
  end

  it "finds one user, and says 404 for none" do
    expect(get("/users/2").json).to eq("id" => 2, "username" => "bob")
    expect(get("/users/99").status).to eq(404)
  end
end
