# frozen_string_literal: true

# What a client gets to see of the database's troubles, in both styles.
RSpec.describe AsyncRecord, "behind a web application" do
  let(:database) { sqlite_database(pool_timeout: 0.1) }

  before do
    database.query("create table users (id integer primary key, name text)")
    model("User", database)
    @port = serve_app(Fastr.app do
      get("/waiting") { User.find(1).name }
      get("/first") { User.first!.name }
      get("/calling") do
        User.first! { |user| async_resp { user.name } }
        render_async
      end
      get("/write") { User.create!(name: "x").name }
      get("/write_calling") do
        User.create!(name: "x") { |user| async_resp { user.name } }
        render_async
      end
      get("/write_promising") do
        AsyncRecord.async { User.create!(name: "x") }.on_success { |user| async_resp { user.name } }
        render_async
      end
    end)
  end

  def get(path)
    Net::HTTP.get_response(URI("http://127.0.0.1:#{@port}#{path}"))
  end

  it "answers 404 to a record that does not exist" do
    expect(%w[/waiting /first /calling].map { |path| get(path).code }).to eq(["404"] * 3)
    User.create!(id: 1, name: "ann")
    expect(%w[/waiting /first /calling].map { |path| get(path).body }).to eq(["ann"] * 3)
  end

  # Without an error path a promise that has a callback is answered for, too.
  it "answers 503 with Retry-After when no connection is free in time" do
    paths = %w[/write /write_calling /write_promising]
    AsyncRecord.transaction(database: database) do
      answers = paths.map { |path| Thread.new { get(path) }.value }
      expect(answers.map { |answer| [answer.code, answer["Retry-After"]] }).to eq([%w[503 1]] * 3)
    end
    expect(paths.map { |path| get(path).code }).to eq(%w[200 200 200])
  end
end
