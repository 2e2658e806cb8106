# frozen_string_literal: true

RSpec.describe Fastr::Router do
  let(:app) { Fastr.app }
  let(:router) { app.router }

  def found(path, method = "GET")
    router.match({ "PATH_INFO" => path, "REQUEST_METHOD" => method })
  end

  def lines
    router.routes.map { |route| "#{route.methods&.join('|') || 'ANY'} #{route.pattern} #{route.target}" }
  end

  describe "in the words of 2010" do
    it "matches the wildcard route" do
      router.for("/:controller/:action")
      expect(found("/users/show")).to eq(ok: { controller: "users", action: "show" })
    end

    it "says not_found when nothing matches" do
      router.for("/:controller/:action")
      expect(found("/a/b/c")).to eq(error: :not_found)
      expect(found("/a b/ c")).to eq(error: :not_found)
    end

    it "takes the first route that matches" do
      router.for("/a/:x", to: "one#x")
      router.for("/a/:y", to: "two#y")
      expect(found("/a/1")[:ok]).to eq(x: "1", controller: "one", action: "x")
    end

    it "constrains a name by any other option, over the whole value" do
      router.for("/w/:word", to: "main#word", word: "[A-Za-z]+")
      expect(found("/w/abc")[:ok][:word]).to eq("abc")
      expect([found("/w/a1"), found("/w/a%0Ab")]).to all(eq(error: :not_found))
    end

    it "lets a constraint cross slashes, because a route was one regular expression" do
      router.for("/files/:path", to: "files#show", path: ".+")
      expect(found("/files/a/b.txt")[:ok][:path]).to eq("a/b.txt")
    end

    it "splits one path by :methods, given as lower-case symbols" do
      router.for("/users/:id", to: "users#create", methods: [:post])
      router.for("/users/:id", to: "users#show", methods: [:get])
      expect(found("/users/7", "POST")[:ok][:action]).to eq("create")
      expect(found("/users/7")[:ok][:action]).to eq("show")
      expect(found("/users/7", "PUT")).to match(error: :method_not_allowed, allow: include("GET", "POST"))
    end

    it "takes a dot in a path for a dot" do
      router.for("/page.html", to: "main#page")
      expect(found("/page.html")[:ok]).to include(controller: "main")
      expect(found("/pagexhtml")).to eq(error: :not_found)
    end

    it "shows a route as the Hash of 2010" do
      router.for("/home/:action", action: "[A-Za-z]+")
      route = router.routes.first
      expect(route[:regex]).to eq("^/home/([A-Za-z]+)$")
      expect(route[:vars]).to eq([:action])
      expect(route[:args]).to eq(action: "[A-Za-z]+")
      expect(route[:hash]).to eq({})
    end
  end

  describe "in the words of today" do
    it "has a word for each method" do
      router.draw do
        %i[get post put patch delete head options].each { |verb| public_send(verb, "/x", to: "a##{verb}") }
      end
      expect(lines).to eq(%w[GET POST PUT PATCH DELETE HEAD OPTIONS].map { |verb| "#{verb} /x a##{verb.downcase}" })
    end

    it "answers HEAD with the route of GET" do
      router.draw { get "/x", to: "a#b" }
      expect(found("/x", "HEAD")[:ok]).to include(action: "b")
    end

    it "draws a resource's seven routes" do
      router.draw { resources :users }
      expect(lines).to eq(["GET /users users#index", "GET /users/new users#new", "POST /users users#create",
                           "GET /users/:id users#show", "GET /users/:id/edit users#edit",
                           "PATCH|PUT /users/:id users#update", "DELETE /users/:id users#destroy"])
    end

    it "draws only what is asked for, and nested, member and collection routes" do
      router.draw do
        resources :users, only: %i[show] do
          member { get :avatar }
          collection { get :search }
          resources :posts, only: :index
        end
      end
      expect(lines).to eq(["GET /users/:id users#show", "GET /users/:id/avatar users#avatar",
                           "GET /users/search users#search", "GET /users/:user_id/posts posts#index"])
      expect(router.routes.map(&:name)).to eq(%w[user avatar_user search_users user_posts])
    end

    it "draws a resource there is one of" do
      router.draw { resource :session, except: %i[edit update] }
      expect(lines).to eq(["GET /session/new sessions#new", "POST /session sessions#create",
                           "GET /session sessions#show", "DELETE /session sessions#destroy"])
    end

    it "puts namespaces in front of path, controller and name" do
      router.draw { namespace(:admin) { resources :users, only: :index } }
      expect(lines).to eq(["GET /admin/users admin/users#index"])
      expect(router.routes.first.name).to eq("admin_users")
    end

    it "constrains captures by Regexp, Integer, :uuid, words, alone or in a block" do
      router.draw do
        get "/a/:id", to: "a#a", id: Integer
        get "/b/:id", to: "a#b", constraints: { id: :uuid }
        constraints(id: /[a-c]{2}/i) { get "/c/:id", to: "a#c" }
        get "/d/:id", to: "a#d", id: %w[x y.z]
      end
      good = %w[/a/12 /b/6f1d0ac2-5a3b-4d6e-8f00-0123456789ab /c/Ab /d/y.z]
      bad = %w[/a/1x /b/12 /c/abc /d/yxz]
      expect(good.map { |path| found(path).key?(:ok) }).to all(be(true))
      expect(bad.map { |path| found(path) }).to all(eq(error: :not_found))
    end

    it "matches the rest of a path and optional parts" do
      router.draw do
        get "/files/*path", to: "files#show"
        get "/posts(.:format)", to: "posts#index"
      end
      expect(found("/files/a/b")[:ok][:path]).to eq("a/b")
      expect(found("/posts.json")[:ok]).to include(format: "json")
      expect(found("/posts")[:ok]).to include(action: "index")
    end

    it "takes a Hash of path and target" do
      router.draw { get "/users" => "users#index" }
      expect(lines).to eq(["GET /users users#index"])
    end

    it "says what a route that leads nowhere needs" do
      expect { router.draw { get "/users" } }.to raise_error(Fastr::RouteError, /leads nowhere: give it a block/)
    end

    it "refuses a constraint for a name that is not there, and suggests one that is" do
      expect { router.draw { get "/users/:name", to: "a#b", nmae: /x/ } }
        .to raise_error(Fastr::RouteError, /no :nmae .* Did you mean name\?/)
    end

    it "refuses a constraint that is no regular expression" do
      expect { router.draw { get "/:a", to: "a#b", a: "[" } }.to raise_error(Fastr::RouteError, /no regular expression/)
    end

    it "takes only requests for its host" do
      client = client_of do
        scope(host: "api.example.org") { get("/") { "api" } }
        get("/", host: /[a-z]+\.shop/) { "shop" }
        get("/") { "any" }
      end
      hosts = ["api.example.org", "API.example.org:8080", "my.shop", "other.org"]
      expect(hosts.map { |host| client.get("/", headers: { "Host" => host }).body }).to eq(%w[api api shop any])
    end

    it "redirects, with captured values" do
      client = client_of { redirect("/old/:id", to: "/new/:id") }
      response = client.get("/old/7")
      expect([response.status, response["location"]]).to eq([301, "/new/7"])
    end

    it "mounts a Rack application, which sees its own path" do
      rack = ->(env) { [200, {}, ["#{env['SCRIPT_NAME']}|#{env['PATH_INFO']}"]] }
      client = client_of { mount rack, at: "/admin" }
      expect(["/admin", "/admin/", "/admin/a/b"].map { |path| client.get(path).body })
        .to eq(["/admin|", "/admin|/", "/admin|/a/b"])
    end

    it "gives the place of each route" do
      router.draw { get "/x", to: "a#b" }
      expect(router.routes.first.location).to match(/router_spec\.rb:\d+\z/)
    end
  end

  describe "path helpers" do
    let(:controller) do
      app.block_controller.include(router.helpers)
      app.block_controller.new
    end

    before do
      router.draw do
        root to: "home#index"
        resources :users, only: %i[index show], constraints: { id: Integer }
        get "/files/*path", to: "files#show", as: :file
        get "/posts(.:format)", to: "posts#index", as: :posts
      end
    end

    it "fills in values by position, name and record" do
      record = Struct.new(:id).new(7)
      expect([controller.root_path, controller.user_path(7), controller.user_path(id: 7), controller.user_path(record)])
        .to eq(["/", "/users/7", "/users/7", "/users/7"])
    end

    it "escapes values, keeps slashes of a rest and appends a query" do
      expect(controller.file_path("a b/c")).to eq("/files/a%20b/c")
      expect(controller.users_path(page: 2, tags: ["a&b"])).to eq("/users?page=2&tags%5B%5D=a%26b")
    end

    it "leaves optional parts out" do
      expect([controller.posts_path, controller.posts_path(format: "json")]).to eq(["/posts", "/posts.json"])
    end

    it "raises on missing, extra and unfit values" do
      expect { controller.user_path }.to raise_error(Fastr::PathError, /needs a value for :id/)
      expect { controller.user_path(1, 2) }.to raise_error(Fastr::PathError, /takes 1 values, got 2/)
      expect { controller.user_path("x") }.to raise_error(Fastr::PathError, /does not fit/)
    end

    it "knows whole URLs, in routes and templates" do
      client = client_of do
        get("/here", as: :here) { here_url }
      end
      expect(client.get("/here").body).to eq("http://test.local/here")
    end
  end
end
