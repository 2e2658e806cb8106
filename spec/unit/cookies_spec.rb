# frozen_string_literal: true

RSpec.describe Fastr::Cookie do
  let(:jar) do
    Class.new do
      include Fastr::Cookie
      attr_reader :headers

      def initialize = @headers = {}
    end.new
  end

  def lines = jar.headers["Set-Cookie"]

  it "writes the form of 2010: options in alphabetical order, a semicolon behind each" do
    jar.set_cookie("key", "value", { c: "d", a: "b" })
    expect(lines).to eq(["key=value; a=b; c=d;"])
  end

  it "formats a Time in GMT, whatever its zone, and leaves the options alone" do
    options = { expires: Time.utc(2000, 1, 1).getlocal("+03:00") }
    jar.set_cookie("key", "value", options)
    expect(lines).to eq(["key=value; expires=Sat, 01-Jan-2000 00:00:00 GMT;"])
    expect(options[:expires]).to be_a(Time)
  end

  it "keeps the cookies set before" do
    jar.headers["Set-Cookie"] = ["one=1;"]
    jar.set_cookie("two", "2")
    expect(lines).to eq(["one=1;", "two=2;"])
  end

  it "prints a true attribute bare and leaves a false one out" do
    jar.set_cookie("a", "b", secure: true, httponly: false, path: nil)
    expect(lines).to eq(["a=b; secure;"])
  end

  [["a", "b; domain=evil"], ["a", "b\r\nX: y"], ["a", "b\0"], ["a=b", "c"], ["a;b", "c"],
   ["", "c"]].each do |name, value|
    it "refuses the cookie #{name.inspect}=#{value.inspect}" do
      expect { jar.set_cookie(name, value) }.to raise_error(ArgumentError)
      expect(lines).to be_nil
    end
  end

  it "refuses an attribute that would add another" do
    expect { jar.set_cookie("a", "b", path: "/; domain=x") }.to raise_error(ArgumentError)
  end
end

RSpec.describe Fastr::Cookies do
  it "reads what the client sent by String and Symbol, values with = in them included" do
    client = client_of { get("/") { [cookies["a"], cookies[:b], cookies["none"]].to_json } }
    expect(client.get("/", headers: { "Cookie" => "a=1=2; b=c" }).json).to eq(["1=2", "c", nil])
  end

  it "sets cookies that scripts and other sites' forms cannot use" do
    response = client_of { get("/") { cookies.set(:id, "7") } }.get("/")
    expect(response.set_cookies).to eq(["id=7; httponly; path=/; samesite=Lax;"])
  end

  it "sets them for TLS only where the request came over TLS" do
    app = Fastr.app { get("/") { cookies.set(:id, "7") } }
    env = { "REQUEST_METHOD" => "GET", "PATH_INFO" => "/", "rack.url_scheme" => "https" }
    expect(app.call(env)[1]["Set-Cookie"].first).to include("secure;")
  end

  it "reads what it has just set, and forgets what it deletes" do
    client = client_of do
      get("/") { (cookies[:a] = "1") && cookies[:a] }
      get("/out") { cookies.delete(:a).to_s + cookies[:a].inspect }
    end
    expect(client.get("/").body).to eq("1")
    response = client.get("/out")
    expect(response.body).to eq("1nil")
    expect(response.set_cookies.first).to include("max-age=0", "expires=Thu, 01-Jan-1970 00:00:00 GMT")
    expect(client.cookies).to be_empty
  end
end
