# frozen_string_literal: true

require "fastr/test"

RSpec.describe Fastr::Test do
  describe Fastr::Test::Controller do
    def test_case(name = nil, &body)
      Class.new do
        define_singleton_method(:name) { name }
        include Fastr::Test::Controller
        class_eval(&body) if body
      end.new
    end

    let(:root) do
      folder("app/config/routes.rb" => "router.for '/:controller/:action'",
             "app/controllers/tested_controller.rb" => <<~RUBY)
               class TestedController < Fastr::Controller
                 def show = render(:text, "\#{params['id']} \#{params[:action]}")
                 def later = defer_response(200, {}) { |response| response.send_data("done") && response.succeed }
               end
             RUBY
    end

    around { |example| Dir.chdir(root) { example.run } }

    it "calls an action of the controller the class is named after, and gives the Rack response" do
      code, headers, body = test_case("TestedControllerTest").get(:show, params: { id: 1 })
      expect([code, headers["Content-Type"], body]).to eq([200, "text/plain", ["1 show"]])
    end

    it "sends a form with post" do
      expect(test_case("TestedControllerTest").post(:show, params: { id: 2 })[2]).to eq(["2 show"])
    end

    it "waits for answers that come later" do
      expect(test_case { set_controller "tested" }.get(:later)[2]).to eq(["done"])
    end

    it "says what to do when no controller is known" do
      expect { test_case("Something").get(:show) }.to raise_error(Fastr::ConfigurationError, /set_controller/)
    end
  end

  describe Fastr::Test::Client do
    it "keeps cookies between requests" do
      client = client_of do
        get("/in") { cookies.set(:user, "ann") }
        get("/who") { cookies[:user].inspect }
      end
      expect([client.get("/who"), client.get("/in"), client.get("/who")].map(&:body)).to eq(["nil", "ann", '"ann"'])
    end

    it "works with any Rack application" do
      expect(described_class.new(->(env) { [200, {}, [env["QUERY_STRING"]]] }).get("/", params: { a: [1, 2] }).body)
        .to eq("a%5B%5D=1&a%5B%5D=2")
    end
  end
end

RSpec.describe Fastr::Log do
  it "prints the format of 2010" do
    stub_const("Logging", Class.new { include Fastr::Log })
    expect(logged { Logging.new.log.warn("careful") }).to eq("[WARN] [Logging]: careful\n")
  end

  it "has one level for all loggers" do
    stub_const("Logging", Class.new { include Fastr::Log })
    described_class.level = :error
    expect(logged { Logging.logger.warn("no") }).to eq("")
  ensure
    described_class.level = :debug
  end
end
