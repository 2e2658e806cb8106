# frozen_string_literal: true

# rubocop:disable Style/HashSyntax -- as in 2010
RSpec.describe AsyncRecord::Connection do
  let(:mysql) { described_class::MySQL }

  it "makes a URL of the options of 2010" do
    options = { :host => "db.example", :port => 3307, :user => "root", :database => "shop", :connections => 20 }
    expect(mysql.new(options).url).to eq("mysql://root@db.example:3307/shop")
  end

  it "knows the ports and this machine" do
    expect(mysql.new(:database => "shop").url).to eq("mysql://127.0.0.1:3306/shop")
    expect(described_class::PostgreSQL.new(:database => "shop").url).to eq("postgres://127.0.0.1:5432/shop")
  end

  it "escapes what a URL would read differently" do
    options = { :user => "o'n@me", :password => "a b/c:ü+", :database => "my shop", :host => "::1" }
    expect(mysql.new(options).url).to eq("mysql://o%27n%40me:a%20b%2Fc%3A%C3%BC%2B@[::1]:3306/my%20shop")
  end

  it "takes :username as other libraries say it" do
    expect(mysql.new(:username => "app", :database => "shop").url).to eq("mysql://app@127.0.0.1:3306/shop")
  end

  it "leaves the database to the server when none is named" do
    expect(mysql.new(:host => "db.example").url).to eq("mysql://db.example:3306/")
  end

  it "does not show the password" do
    expect(mysql.new(:user => "app", :password => "secret", :database => "shop").inspect).not_to include("secret")
  end

  it "asks for the path of a SQLite file" do
    expect { described_class::SQLite.new({}) }.to raise_error(AsyncRecord::ConfigurationError, /path/)
  end
end
# rubocop:enable Style/HashSyntax
