# frozen_string_literal: true

RSpec.describe Fastr::Application do
  def boot(files)
    described_class.new(folder(files))
  end

  def client(files)
    Fastr::Test::Client.new(boot(files))
  end

  describe "in a folder, as in 2010" do
    it "evaluates init, settings and routes in the application, and loads classes of controllers, models and lib" do
      app = client(
        "app/config/init.rb" => "@init = self.class.name",
        "app/config/settings.rb" => "config.log_level = Logger::WARN\n@path = app_path",
        "app/config/routes.rb" => "router.draw do |route|\n route.for '/:controller/:action'\nend",
        "app/controllers/booted_controller.rb" =>
          "class BootedController < Fastr::Controller\n def a = BootedModel::NAME + BootedLib::NAME\nend",
        "app/models/booted_model.rb" => "class BootedModel; NAME = 'model '; end",
        "lib/booted_lib.rb" => "module BootedLib; NAME = 'lib'; end"
      )
      expect(app.get("/booted/a").body).to eq("model lib")
    ensure
      Fastr::Log.level = :debug
    end

    it "loads files one after another when their names promise nothing" do
      app = client("app/config/routes.rb" => "router.for '/:controller/:action'",
                   "app/controllers/everything.rb" => "class OddNameController < Fastr::Controller; def a = 'odd'; end")
      expect(app.get("/odd_name/a").body).to eq("odd")
    end

    it "finds classes in any order when file names tell them" do
      app = client("app/config/routes.rb" => "router.for '/admin/deep/:action', to: 'admin/a_first#x'",
                   "app/controllers/admin/a_first_controller.rb" =>
                     "module Admin; class AFirstController < ZLastController; def x = y; end; end",
                   "app/controllers/z_last_controller.rb" =>
                     "class ZLastController < Fastr::Controller\n private def y = 'z'\nend")
      expect(app.get("/admin/deep/x").body).to eq("z")
    end

    it "runs plugins of custom/plugins and of the settings, each with what the one before returned" do
      plugin = lambda do |name|
        <<~RUBY
          module #{name}Plugin
            def self.after_boot(app) = app.settings.server[:booted] = "\#{app.settings.server[:booted]}#{name}"
            def self.before_dispatch(app, env) = env.merge("seen" => "\#{env["seen"]}#{name}")

            def self.after_dispatch(app, env, response)
              response[1]["X-Seen"] = "\#{env["seen"]}\#{response[1]["X-Seen"]}"
              response
            end
          end
        RUBY
      end
      app = boot("custom/plugins/one/plugin.rb" => plugin["One"],
                 "custom/plugins/one/lib/more.rb" => "module OnePlugin; MORE = 1; end",
                 "app/config/settings.rb" => "#{plugin['Set']}\nconfig.plugins << SetPlugin",
                 "app/config/routes.rb" => "router.draw { get('/') { env['seen'] } }")
      response = client_of(app).get("/")
      expect([response.body, response["X-Seen"]]).to eq(%w[SetOne SetOneSetOne])
      expect([app.settings.server[:booted], OnePlugin::MORE]).to eq(["SetOne", 1])
    end

    it "serves public files before routes" do
      app = client("public/a.txt" => "static", "public/.secret" => "no",
                   "app/config/routes.rb" => "router.draw { get('/a.txt') { 'route' } }")
      response = app.get("/a.txt")
      expect([response.body, response["Content-Type"]]).to eq(["static", "text/plain"])
      expect(%w[/../app/config/routes.rb /%2e%2e/app/config/routes.rb /.secret /a.txt/ /a%00].map do |path|
               app.get(path).status
             end)
        .to all(satisfy { |status| [400, 404].include?(status) })
    end

    it "is not ready while it boots" do
      app = described_class.allocate
      app.instance_variable_set(:@booting, true)
      expect(app.dispatch({})).to eq([500, { "Content-Type" => "text/plain" }, ["Server Not Ready"]])
    end
  end

  describe "with a mistake in a file" do
    def mistake(files)
      boot(files)
      nil
    rescue Fastr::BootError => e
      e
    end

    it "names file, line and the nearest word of a typo in the routes" do
      error = mistake("app/config/routes.rb" => "router.draw do |route|\n  rotue.for '/'\nend")
      expect(error.message).to match(%r{app/config/routes\.rb:2: undefined local .*rotue.*Did you mean\?\s+route})
      expect(error.line).to eq(2)
    end

    it "names file and line of a syntax error" do
      error = mistake("app/controllers/bad_syntax_controller.rb" => "class BadSyntaxController\n  def a(\nend")
      expect(error.message).to match(/bad_syntax_controller\.rb:\d+: .*syntax error/m)
    end

    it "names the nearest setting" do
      error = mistake("app/config/settings.rb" => "\nconfig.log_levle = 1")
      expect(error.message).to match(/settings\.rb:2: .*log_levle.*Did you mean\?\s+log_level/)
    end

    it "names the nearest controller and action of a route" do
      files = { "app/controllers/nearby_controller.rb" => "class NearbyController < Fastr::Controller; end" }
      wrong = mistake(files.merge("app/config/routes.rb" => "router.draw do\n get '/', to: 'nearbi#show'\nend"))
      expect(wrong.message).to match(/routes\.rb:2: .*there is no NearbiController\. Did you mean nearby\?/)
    end

    it "only logs a route of 2010 that leads nowhere; that path alone is a 500" do
      app = nil
      log = logged do
        app = client("app/config/routes.rb" => "router.draw do |r|\n r.for '/a', :to => 'nowhere#a'\nend")
      end
      expect(log).to match(/ERROR.*routes\.rb:2: .*no NowhereController/)
      expect(app.get("/a").status).to eq(500)
    end

    it "stays up in development, shows the mistake, and recovers when it is mended" do
      in_environment("development") do
        root = folder("app/config/routes.rb" => "router.drow {}", "public/.keep" => "")
        app = described_class.new(root)
        page = Fastr::Test::Client.new(app).get("/")
        expect([page.status, page.body]).to match([500, /routes\.rb:1: .*drow.*Did you mean\?\s+draw/m])
        write(root, "app/config/routes.rb" => "router.draw { get('/') { 'mended' } }")
        expect(eventually { (response = Fastr::Test::Client.new(app).get("/")).ok? && response.body }).to eq("mended")
      end
    end
  end

  describe "reloading" do
    around { |example| in_environment("development") { example.run } }

    def changed(app, path, wanted)
      eventually { Fastr::Test::Client.new(app).get(path).body == wanted }
    end

    let(:reloaded) { "class ReloadedController < Fastr::Controller; def a = 'VALUE'; end" }

    it "loads changed, new and vanished files again, in the Zeitwerk layout" do
      root = folder("app/config/routes.rb" => "router.for '/:controller/:action'",
                    "app/controllers/reloaded_controller.rb" => reloaded.sub("VALUE", "one"))
      app = described_class.new(root)
      expect(Fastr::Test::Client.new(app).get("/reloaded/a").body).to eq("one")
      write(root,
            "app/controllers/reloaded_controller.rb" => reloaded.sub("VALUE", "two!"))
      changed(app, "/reloaded/a", "two!")
      write(root,
            "app/controllers/added_controller.rb" => "class AddedController < Fastr::Controller; def a = 'new'; end")
      changed(app, "/added/a", "new")
      File.delete("#{root}/app/controllers/added_controller.rb")
      changed(app, "/added/a", "404 Not Found: /added/a")
    end

    it "loads changed files again in any other layout, and takes removed methods back" do
      root = folder("app/config/routes.rb" => "router.for '/:controller/:action'",
                    "app/controllers/odd.rb" =>
                      "class OddlyController < Fastr::Controller; def a = 'a'; def b = 'b'; end")
      app = described_class.new(root)
      write(root, "app/controllers/odd.rb" => "class OddlyController < Fastr::Controller; def a = 'changed'; end")
      changed(app, "/oddly/a", "changed")
      expect(Fastr::Test::Client.new(app).get("/oddly/b").status).to eq(404)
    end

    it "shows a mistake made while it runs, and goes on after it" do
      root = folder("app/config/routes.rb" => "router.draw { get('/') { 'fine' } }")
      app = described_class.new(root)
      write(root, "app/config/routes.rb" => "router.draw { get('/' { 'broken' } }")
      eventually { Fastr::Test::Client.new(app).get("/").body.include?("routes.rb:1") }
      write(root, "app/config/routes.rb" => "router.draw { get('/') { 'mended again' } }")
      changed(app, "/", "mended again")
    end
  end

  describe "made of blocks" do
    it "gives a block its captures as parameters, as many as it takes" do
      app = client_of do
        get("/a/:x/:y") { |x, y| "#{x}#{y}" }
        get("/b/:x/:y") { |x| x }
        get("/c/:x") { "none" }
        get("/d/:x") { |x, *rest| [x, rest].to_json }
        get("/e(/:x)", &:inspect)
      end
      expect(%w[/a/1/2 /b/1/2 /c/1 /d/1 /e /e/1].map do |path|
               app.get(path).body
             end).to eq(["12", "1", "none", '["1",[]]', "nil", '"1"'])
    end

    it "lets a block return early" do
      app = client_of do
        get("/:n") do |n|
          return "early" if n == "1"

          "late"
        end
      end
      expect(app.get("/1").body).to eq("early")
    end

    it "has filters, helpers, error handlers and a not_found of its own" do
      app = client_of do
        before { @who = "you" }
        after { |response| response[1]["X-After"] = "1" and response }
        helpers { def greet = "hello #{@who}" }
        error(KeyError) { |e| [418, {}, [e.message]] }
        not_found { "nothing at #{request.path}" }
        get("/") { greet }
        get("/boom") { raise KeyError, "k" }
      end
      response = app.get("/")
      expect([response.body, response["X-After"]]).to eq(["hello you", "1"])
      expect(app.get("/boom").status).to eq(418)
      missing = app.get("/none")
      expect([missing.status, missing.body]).to eq([404, "nothing at /none"])
    end

    it "is a class with the same words, inherited" do
      parent = Class.new(described_class) { get("/one") { "1" } }
      child = Class.new(parent) { get("/two") { "2" } }
      app = Fastr::Test::Client.new(child.new)
      expect([app.get("/one").body, app.get("/two").body]).to eq(%w[1 2])
      expect(child.shared.router.routes.last.location).to match(/application_spec\.rb:\d+/)
    end

    it "serves envs through the class, for `run App`" do
      klass = Class.new(described_class) { get("/") { "class" } }
      expect(klass.call({ "REQUEST_METHOD" => "GET", "PATH_INFO" => "/" })[2]).to eq(["class"])
    end

    it "answers 405 with Allow, and OPTIONS with it" do
      app = client_of { post("/x") { "" } }
      expect([app.get("/x").status, app.get("/x")["Allow"]]).to match([405, /POST/])
      expect(app.request("OPTIONS", "/x").status).to eq(204)
    end
  end

  it "logs each request when the settings say so" do
    app = client_of do
      configure { |settings| settings.log_requests = true }
      get("/seen") { "" }
    end
    expect(logged { app.get("/seen") }).to match(%r{\[INFO\] \[Fastr::Application\]: GET /seen 200 \d+\.\dms request=-})
  end
end
