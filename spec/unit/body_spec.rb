# frozen_string_literal: true

RSpec.describe "the body of a request" do
  def multipart(parts)
    text = parts.map { |head, content| "--XX\r\nContent-Disposition: form-data; #{head}\r\n\r\n#{content}\r\n" }.join
    { body: "#{text}--XX--\r\n", headers: { "Content-Type" => "multipart/form-data; boundary=XX" } }
  end

  it "is a 400 with the reason when its JSON is broken" do
    client = client_of { post("/") { params.to_h } }
    response = client.post("/", body: '{"a":', headers: { "Content-Type" => "application/json" })
    expect(response.status).to eq(400)
    expect(response.body).to match(/the JSON body cannot be read/)
  end

  it "is a 415 that names the coding when it is compressed" do
    client = client_of { post("/") { params.to_h } }
    %w[application/json application/x-www-form-urlencoded].each do |type|
      response = client.post("/", body: "\x1f\x8b", headers: { "Content-Type" => type, "Content-Encoding" => "gzip" })
      expect([response.status, response.body]).to match([415, /gzip/])
    end
  end

  it "is a 400 when its JSON nests without end" do
    client = client_of { post("/") { params.to_h } }
    response = client.post("/", body: "[" * 100_000, headers: { "Content-Type" => "application/json" })
    expect(response.status).to eq(400)
  end

  it "is the plain document through json_body" do
    expect(client_of { post("/") { json_body } }.post("/", json: [1, 2]).json).to eq([1, 2])
  end

  it "gives files as uploads and fields as text" do
    client = client_of do
      post("/") do
        file = params[:doc]
        [file.filename, file.content_type, file.read, params[:user][:name]].to_json
      end
    end
    response = client.post("/",
                           **multipart('name="user[name]"' => "ann", 'name="doc"; filename="../../a.txt"' => "text"))
    expect(response.json).to eq(["a.txt", "application/octet-stream", "text", "ann"])
  end

  it "gives files as uploads on the native path" do
    port = serve_app(Fastr.app { post("/") { "#{params[:doc].filename} #{params[:doc].size} #{params[:n]}" } })
    sent = multipart('name="n"' => "é", 'name="doc"; filename="b.bin"' => "x" * 200_000)
    response = http(port, "/", method: "POST", **sent)
    expect(response.body.force_encoding("UTF-8")).to eq("b.bin 200000 é")
  end

  it "is 400 when a multipart body is cut" do
    port = serve_app(Fastr.app { post("/") { params[:doc].to_s } })
    sent = multipart('name="doc"; filename="b.bin"' => "x")
    sent[:body] = sent[:body][0, 60]
    expect(http(port, "/", method: "POST", **sent).code).to eq("400")
  end

  it "reads bodies of other methods than POST" do
    client = client_of { put("/") { params[:a] } }
    expect(client.put("/", params: { a: "1" }).body).to eq("1")
  end

  it "keeps the names of 2010: get_params and post_params" do
    client = client_of do
      match("/", via: :all) { [get_params, post_params].to_json }
    end
    expect(client.get("/?a=1&b[c]=2").json).to eq([{ "a" => "1", "b[c]" => "2" }, nil])
    expect(client.post("/?a=1", params: { "b" => "2" }).json).to eq([nil, { "b" => "2" }])
  end
end

RSpec.describe Fastr::Upload do
  it "saves what it holds in memory or in a file" do
    root = folder("spooled" => "from disk")
    memory = described_class.new(name: "a", filename: "a", content: "bytes")
    disk = described_class.new(name: "a", filename: "a", path: "#{root}/spooled")
    expect(File.read(memory.save_to("#{root}/one"))).to eq("bytes")
    expect(File.read(disk.save_to("#{root}/two"))).to eq("from disk")
    expect([memory.size, disk.size, disk.open.read]).to eq([5, 9, "from disk"])
  end

  it "never lets the client's name be a path" do
    expect(described_class.new(name: "a", filename: "..\\..\\x/../evil.exe", content: "").filename).to eq("evil.exe")
  end
end
