# frozen_string_literal: true

RSpec.describe Fastr::Rendering do
  # An application in a folder with these views, whose one action is the block.
  def rendered(views = {}, settings: "", setup: nil, &action)
    root = folder(views.transform_keys { |path| "app/views/#{path}" }.merge("app/config/settings.rb" => settings))
    stub_const("ViewController", Class.new(Fastr::Controller))
    ViewController.class_eval(&setup) if setup
    ViewController.define_method(:act, &action)
    app = Fastr::Application.new(root)
    app.router.for("/:controller/:action")
    Fastr::Test::Client.new(app).get("/view/act")
  end

  it "renders text and JSON in the words of 2010, with their bare types" do
    text = rendered { render(:text, "hey") }
    json = rendered { render(:json, { status: "ok" }) }
    expect([text["Content-Type"], text.body]).to eq(["text/plain", "hey"])
    expect([json["Content-Type"], json.body]).to eq(["application/json", '{"status":"ok"}'])
  end

  it "shows the type of what was rendered in self.headers, where it can still be changed" do
    response = rendered do
      seen = headers["Content-Type"]
      answer = render(:text, "a,b")
      headers["X-Seen"] = [seen, headers["Content-Type"]].inspect
      headers["Content-Type"] = "text/csv"
      answer
    end
    expect([response["X-Seen"], response["Content-Type"]]).to eq(['[nil, "text/plain"]', "text/csv"])
  end

  it "gives Rack headers that a middleware may add to" do
    stub_const("ViewController", Class.new(Fastr::Controller) { def act = render(text: "x") })
    app = Fastr::Application.new(folder({}))
    app.router.for("/:controller/:action")
    _, headers, = Rack::MockRequest.env_for("/view/act").then { |env| app.call(env) }
    headers["X-Later"] = "1"
    expect(headers).to include("Content-Type" => "text/plain; charset=utf-8", "X-Later" => "1")
  end

  it "takes :response_code and :headers, as the README of 2010 promises" do
    response = rendered { render(:text, "x", response_code: 202, headers: { "X-Opt" => "1" }) }
    expect([response.status, response["X-Opt"]]).to eq([202, "1"])
  end

  it "renders in the words of today" do
    response = rendered { render html: "<b>", status: :created, headers: { "X-A" => "1" } }
    expect([response.status, response["Content-Type"], response["X-A"]]).to eq([201, "text/html; charset=utf-8", "1"])
  end

  it "takes a String under json: for finished JSON" do
    expect(rendered { render json: '{"a":1}' }.body).to eq('{"a":1}')
  end

  it "uses a relation's own JSON" do
    relation = Object.new.tap { |object| def object.to_json_bytes = "[]" }
    expect(rendered { render(json: relation) }.body).to eq("[]")
    expect(rendered { render(:json, relation) }.body).to eq("[]")
  end

  it "raises on a kind it does not know" do
    log = logged { expect(rendered { render(:nonsense, 1) }.status).to eq(500) }
    expect(log).to include("ArgumentError: Unknown render type: :nonsense")
  end

  it "gives templates the instance variables and @vars" do
    response = rendered({ "p.html.erb" => "<%= @name %>/<%= @vars[:greeting] %>" }) do
      @name = "ann"
      render(:template, "p.html.erb", { vars: { greeting: "Aloha!" } })
    end
    expect([response["Content-Type"], response.body]).to eq(["text/html; charset=utf-8", "ann/Aloha!"])
  end

  it "escapes what ERB prints, but not with <%== and not what is marked" do
    response = rendered({ "p.erb" => "<%= @x %>|<%== @x %>|<%= raw(@x) %>|<%= raw('<i>') + @x %>" }) do
      @x = "<b>&"
      render template: "p.erb"
    end
    expect(response.body).to eq("&lt;b&gt;&amp;|<b>&|<b>&|<i>&lt;b&gt;&amp;")
  end

  it "inserts partials as they are, once escaped, and keeps the outer @vars" do
    views = { "p.erb" => "<%= render(:partial, '_q.erb', vars: { m: '<' }) %><%= @vars[:m] %>",
              "_q.erb" => "<b><%= @vars[:m] %></b>" }
    expect(rendered(views) { render(:template, "p.erb", vars: { m: "out" }) }.body).to eq("<b>&lt;</b>out")
  end

  it "renders HAML with the same escaping" do
    response = rendered({ "p.haml" => "%p= @x\n= render(partial: '_q')\n", "_q.haml" => "%b= @x\n" }) do
      @x = "<"
      render(:template, "p.haml")
    end
    expect(response.body).to eq("<p>&lt;</p>\n<b>&lt;</b>\n\n")
  end

  it "knows the engine's name as a kind, as in the post of June 2010" do
    expect(rendered({ "index.haml" => "%h1 hi\n" }) { render(:haml, template: "index") }.body).to eq("<h1>hi</h1>\n")
  end

  it "finds a template by its bare name, in the controller's folder too" do
    expect(rendered({ "view/act.html.erb" => "here" }) { render template: "act" }.body).to eq("here")
    expect(rendered({ "a/b.html.erb" => "there" }) { render "a/b" }.body).to eq("there")
  end

  it "puts layouts around templates: of the settings, of the class, of the call" do
    views = { "p.erb" => "<p>", "layouts/a.erb" => "A<%= yield %>", "layouts/b.erb" => "B<%= yield %>" }
    expect(rendered(views, settings: "config.layout = 'a'") { render template: "p.erb" }.body).to eq("A<p>")
    expect(rendered(views, setup: proc { layout("b") }) { render template: "p.erb" }.body).to eq("B<p>")
    expect(rendered(views, setup: proc { layout("b") }) { render template: "p.erb", layout: false }.body).to eq("<p>")
  end

  it "lists the paths tried when a template is missing, and the nearest one" do
    log = logged { rendered({ "users/index.html.erb" => "" }) { render template: "users/idnex" } }
    expect(log).to include("no template \"users/idnex\"; tried app/views/users/idnex.html.erb, ",
                           "app/views/users/idnex.erb, ", "Did you mean users/index?")
  end

  %w[../app/config/settings.rb /etc/passwd a/../../x].each do |path|
    it "refuses #{path}" do
      expect(logged { rendered { render template: path } }).to match(%r{TemplateMissing: .*leaves app/views})
    end
  end

  it "keeps compiled templates unless cache_template is false" do
    root = folder("app/views/p.erb" => "one")
    store = Fastr.const_get(:TemplateStore).new("#{root}/app/views")
    scope = Fastr::Controller.new
    first = store.render("p.erb", scope)
    write(root, "app/views/p.erb" => "two")
    expect([first, store.render("p.erb", scope), store.render("p.erb", scope, cache: false)]).to eq(%w[one one two])
  end

  it "compiles a changed template again while reloading" do
    root = folder("app/views/p.erb" => "one")
    store = Fastr.const_get(:TemplateStore).new("#{root}/app/views", reload: true)
    store.render("p.erb", Fastr::Controller.new)
    write(root, "app/views/p.erb" => "two")
    File.utime(Time.now, Time.now + 2, "#{root}/app/views/p.erb")
    expect(store.render("p.erb", Fastr::Controller.new)).to eq("two")
  end

  it "takes engines of the application's own, as in 2010" do
    engine = Class.new { def self.result(path, scope, _cache) = "#{File.read(path)} #{scope.eval('@x')}" }
    Fastr::Template.register_extensions(engine, %w[shout])
    expect(rendered({ "p.shout" => "HEY" }) { (@x = 1) && render(:template, "p.shout") }.body).to eq("HEY 1")
  end

  it "refuses an engine that cannot give a result" do
    expect { Fastr::Template.register_extensions(Object, %w[x]) }.to raise_error(ArgumentError, /no method `result/)
  end

  it "streams what a block writes" do
    response = rendered { stream { |out| 3.times { |i| out << i } } }
    expect([response["Content-Type"], response.body]).to eq(["text/plain; charset=utf-8", "012"])
  end
end

RSpec.describe Fastr::SafeString do
  it "escapes plain text and leaves marked text alone" do
    expect(described_class.escape("<a href='x'>")).to eq("&lt;a href=&#39;x&#39;&gt;")
    expect(described_class.escape(described_class.new("<b>"))).to eq("<b>")
    expect(described_class.escape(nil)).to eq("")
  end

  it "escapes what is added to it" do
    text = described_class.new("<b>")
    text << "<" << described_class.new("</b>")
    expect(text).to eq("<b>&lt;</b>")
    expect([text, "&"].reduce(:+)).to be_a(described_class).and eq("<b>&lt;</b>&amp;")
  end

  it "loses the mark when it is changed in any other way" do
    expect(described_class.new("<b>").gsub("b", "i")).not_to be_a(described_class)
    expect("#{described_class.new('<b>')}<i>").not_to be_a(described_class)
  end
end
