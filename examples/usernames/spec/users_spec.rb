# frozen_string_literal: true

require "tmpdir"
ENV["FASTR_ENV"] = "test"
FOLDER = File.expand_path("..", __dir__)
DATABASE = File.join(Dir.mktmpdir("usernames"), "test.sqlite3")
at_exit { FileUtils.rm_rf(File.dirname(DATABASE)) }
ENV["DATABASE_URL"] = "sqlite:#{DATABASE}"

require "fastr"
require "fastr/test"
require "json"

RSpec.describe "usernames" do
  include Fastr::Test::Requests

  before(:context) do
    %w[migrate seed].each { |command| system("fastr", "db", command, chdir: FOLDER, out: File::NULL) || abort(command) }
    @reactor = Thread.new { Fastr::Reactor.run } # callbacks need one, as a server has
    Thread.pass until Fastr::Reactor.reactor_running?
  end

  after(:context) do
    Fastr::Reactor.stop
    @reactor.join
  end

  before { use_application(FOLDER) }

  it "gives usernames as text" do
    expect(get("/users").body).to start_with("alice\nbob\n")
  end

  it "gives rows as JSON" do
    expect(JSON.parse(get("/users.json").body).first).to eq("id" => 1, "username" => "alice")
  end

  it "finds one user, or says that there is none" do
    expect(JSON.parse(get("/users/2").body)).to include("username" => "bob")
    expect(get("/users/999").status).to eq(404)
  end

  it "adds a user once, and none without a name" do
    expect(JSON.parse(post("/users", params: { username: "zoe" }).body)).to include("username" => "zoe")
    expect(post("/users", params: { username: "zoe" }).status).to eq(409)
    expect(post("/users", params: { username: "" }).status).to eq(422)
  end
end
