# frozen_string_literal: true

RSpec.describe Fastr::Params do
  def params_of(path, **options)
    seen = nil
    client_of { post("/users/:id") { seen = params and "" } }.post(path, **options)
    seen
  end

  it "reads what the route captured by Symbol and by String" do
    params = params_of("/users/7")
    expect([params[:id], params["id"]]).to eq(%w[7 7])
  end

  it "reads the query by Symbol and by String" do
    params = params_of("/users/7?page=2&q=a+b%26")
    expect([params["page"], params[:page], params[:q]]).to eq(["2", "2", "a b&"])
  end

  it "keeps what the route captured when the client sends the same name" do
    expect(params_of("/users/7?id=8")[:id]).to eq("7")
  end

  it "prefers the body to the query" do
    expect(params_of("/users/7?a=query", params: { a: "body" })[:a]).to eq("body")
  end

  it "nests names with brackets" do
    params = params_of("/users/7", params: { user: { name: "ann", tags: %w[x y] } })
    expect(params[:user][:name]).to eq("ann")
    expect(params.dig(:user, :tags, 1)).to eq("y")
    expect(params["user"]["tags"]).to eq(%w[x y])
  end

  it "keeps repeats of a plain name as an Array, as in 2010" do
    expect(params_of("/users/7?a=1&a=2&a=3")["a"]).to eq(%w[1 2 3])
  end

  it "reads a JSON body" do
    params = params_of("/users/7", json: { name: "ann", list: [{ x: 1 }] })
    expect(params[:name]).to eq("ann")
    expect(params[:list].first[:x]).to eq(1)
  end

  it "has the shape of 2010 as a plain Hash: Strings from the client, Symbols from the route" do
    expect(params_of("/users/7?a=1").to_h).to eq("a" => "1", :id => "7")
  end

  it "knows which keys there are" do
    params = params_of("/users/7?a=")
    expect([params.key?(:a), params.key?("id"), params.key?(:b)]).to eq([true, true, false])
    expect(params.slice(:a, :b)).to eq(a: "")
    expect(params.fetch(:b, "none")).to eq("none")
  end

  it "answers 400 when a parameter that is fetched is missing" do
    response = client_of { get("/") { params.fetch(:name) } }.get("/")
    expect([response.status, response.body]).to eq([400, %(400 Bad Request: parameter "name" is missing)])
  end

  it "does not read the body when the route knows the value" do
    body = Object.new
    app = Fastr.app { post("/:id") { params[:id] } }
    env = { "REQUEST_METHOD" => "POST", "PATH_INFO" => "/9", "rack.input" => body }
    expect(app.call(env)[2]).to eq(["9"])
  end

  {
    "a broken escape" => "/users/7?a=%zz", "contradicting names" => "/users/7?a=1&a[b]=2",
    "names that are a list and a Hash" => "/users/7?a[]=1&a[b]=2", "deep nesting" => "/users/7?a#{'[b]' * 40}=1"
  }.each do |what, path|
    it "answers 400 with a reason to #{what}" do
      response = client_of { post("/users/:id") { params[:a].inspect } }.post(path)
      expect(response.status).to eq(400)
      expect(response.body).to start_with("400 Bad Request: ")
    end
  end

  it "builds rows from repeated brackets" do
    params = params_of("/users/7", body: "rows[][id]=1&rows[][n]=a&rows[][id]=2&rows[][n]=b",
                                   headers: { "Content-Type" => "application/x-www-form-urlencoded" })
    expect(params[:rows].map(&:to_h)).to eq([{ "id" => "1", "n" => "a" }, { "id" => "2", "n" => "b" }])
  end
end
