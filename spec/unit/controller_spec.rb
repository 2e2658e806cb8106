# frozen_string_literal: true

RSpec.describe Fastr::Controller do
  # Defines a controller class for one example; routes reach it under "thing".
  def define(parent = described_class, &body)
    stub_const("ThingController", Class.new(parent))
    ThingController.class_eval(&body)
    client_of { router.for("/:controller/:action") }
  end

  describe "what an action returns" do
    {
      "a String is text" => [-> { "plain" }, 200, "text/plain; charset=utf-8", "plain"],
      "a Hash is JSON" => [-> { { a: 1 } }, 200, "application/json", '{"a":1}'],
      "an Array is JSON" => [-> { [1, 2] }, 200, "application/json", "[1,2]"],
      "a Rack response stays as it is" => [-> { [201, { "Content-Type" => "x/y" }, ["raw"]] }, 201, "x/y", "raw"],
      "nil after render is what was rendered" => [-> { render(text: "r", status: 202) and nil }, 202,
                                                  "text/plain; charset=utf-8", "r"],
      "what was rendered wins over a value that is no response" => [-> { render(text: "r") and 5 }, 200,
                                                                    "text/plain; charset=utf-8", "r"]
    }.each do |rule, (action, status, type, body)|
      it(rule) do
        response = define { define_method(:act, &action) }.get("/thing/act")
        expect([response.status, response["Content-Type"], response.body]).to eq([status, type, body])
      end
    end

    it "nothing at all is 204" do
      expect(define { def act = nil }.get("/thing/act").status).to eq(204)
    end

    it "something that makes its own JSON bytes is JSON" do
      relation = Object.new
      def relation.to_json_bytes = '[{"id":1}]'
      response = define { define_method(:act) { relation } }.get("/thing/act")
      expect([response["Content-Type"], response.body]).to eq(["application/json", '[{"id":1}]'])
    end

    it "anything else is a 500 whose log entry says what is allowed" do
      client = define { def act = 5 }
      response = nil
      log = logged { response = client.get("/thing/act") }
      expect(response.status).to eq(500)
      expect(log).to include("ThingController#act returned Integer; an action returns a String")
    end
  end

  describe "what is an action" do
    let(:client) do
      helper = Module.new { def from_a_module = "no" }
      define do
        include helper
        before_filter :filter
        def act = "yes"
        def test = "yes"
        def raw = "yes"
        def filter = filter_continue

        private

        def hidden = "no"
      end
    end

    it "is a public method of the application's own class, whatever Kernel or the framework have of that name" do
      expect(%w[act test raw].map { |name| client.get("/thing/#{name}").body }).to all(eq("yes"))
    end

    %w[hidden from_a_module filter filter_stop render_async exit inspect send instance_eval __id__ fastr_answer
       initialize no_such].each do |name|
      it("is not #{name}") { expect(client.get("/thing/#{name}").status).to eq(404) }
    end

    it "is a public method of a class in between" do
      parent = Class.new(described_class) { def inherited_action = "from above" }
      expect(define(parent) { nil }.get("/thing/inherited_action").body).to eq("from above")
    end

    it "is nothing of a controller that does not exist, and nothing is loaded for it" do
      expect(define { def act = "" }.get("/Kernel/exit").status).to eq(404)
    end
  end

  it "merges self.headers into the response" do
    client = define do
      def act
        headers["X-A"] = "1"
        [200, { "Content-Type" => "text/plain" }, ["x"]]
      end
    end
    expect(client.get("/thing/act").headers).to eq("Content-Type" => "text/plain", "X-A" => "1")
  end

  it "has env, app, request and log" do
    client = define do
      def act = [env["REQUEST_METHOD"], app.class.name, request.path, log.class.name].to_json
    end
    expect(client.get("/thing/act").json).to eq(["GET", "Fastr::Application", "/thing/act", "Logger"])
  end

  it "keeps nothing of one request for the next" do
    client = define do
      def act = "#{@seen.inspect} #{@seen = 1}"
    end
    2.times { expect(client.get("/thing/act").body).to start_with("nil") }
  end

  describe "errors" do
    it "are answered by rescue_from, inherited and the last one first" do
      parent = Class.new(described_class) do
        rescue_from(StandardError) do |error|
          render text: "parent #{error.message}"
        end
      end
      client = define(parent) do
        rescue_from KeyError, with: :missing
        def a = raise(KeyError, "k")
        def b = raise("s")

        private

        def missing = render(text: "missing", status: 404)
      end
      expect(client.get("/thing/a").status).to eq(404)
      expect(client.get("/thing/b").body).to eq("parent s")
    end

    it "of a request have their own status and reason" do
      client = define { def act = raise(Fastr::RequestError.new("too much", 413)) }
      response = client.get("/thing/act")
      expect([response.status, response.body]).to eq([413, "413 Content Too Large: too much"])
    end

    it "of a missing record are 404, of a full pool 503 with Retry-After" do
      client = define do
        def gone = raise(AsyncRecord::RecordNotFound, "no User 1")
        def full = raise(AsyncRecord::PoolTimeout, "full")
      end
      expect(client.get("/thing/gone").status).to eq(404)
      response = client.get("/thing/full")
      expect([response.status, response["Retry-After"]]).to eq([503, "1"])
    end

    it "are logged once, with method, path and the line at fault" do
      client = define { def act = raise("kaput") }
      log = logged { expect(client.get("/thing/act").body).to eq("500 Internal Server Error") }
      expect(log.scan("kaput").size).to eq(1)
      expect(log).to match(%r{\[ERROR\] .*GET /thing/act RuntimeError: kaput\n    .*controller_spec\.rb:\d+})
    end

    it "are JSON for those who ask for JSON" do
      client = define { def act = raise("kaput") }
      response = client.get("/thing/act", headers: { "Accept" => "application/json" })
      expect(response["Content-Type"]).to eq("application/problem+json")
      expect(response.json).to eq("title" => "Internal Server Error", "status" => 500)
    end
  end

  describe "errors in development" do
    around { |example| in_environment("development") { example.run } }

    let(:client) { define { def act = raise("<kaput>") } }

    it "show message and source as text" do
      response = client.get("/thing/act")
      expect(response.status).to eq(500)
      expect(response.body).to include("RuntimeError: <kaput>", "controller_spec.rb, line", "> ", "GET /thing/act")
    end

    it "show them as HTML, escaped, to browsers" do
      response = client.get("/thing/act", headers: { "Accept" => "text/html,*/*" })
      expect(response["Content-Type"]).to start_with("text/html")
      expect(response.body).to include("&lt;kaput&gt;")
      expect(response.body).not_to include("<kaput>")
    end

    it "show them as JSON when asked" do
      response = client.get("/thing/act", headers: { "Accept" => "application/json" })
      expect(response.json).to include("title" => "RuntimeError", "detail" => "<kaput>")
    end
  end

  it "redirects, answers without a body and says not found" do
    client = define do
      def away = redirect_to("/there", status: :see_other)
      def empty = head(:accepted)
      def gone = not_found
    end
    away = client.get("/thing/away")
    expect([away.status, away["Location"]]).to eq([303, "/there"])
    expect(client.get("/thing/empty").status).to eq(202)
    expect(client.get("/thing/gone").body).to eq("404 Not Found: /thing/gone")
  end
end
