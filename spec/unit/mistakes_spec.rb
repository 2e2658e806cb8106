# frozen_string_literal: true

require "async_record"
require "open3"

RSpec.describe "mistakes and what is said about them" do
  it "does not run in an environment that is a slip of the pen" do
    before = Fastr.environment
    expect { Fastr.environment = "prodction" }
      .to raise_error(Fastr::ConfigurationError, /no environment "prodction". Did you mean production\?/)
    Fastr.environment = "staging"
    expect(Fastr.environment).to eq("staging")
  ensure
    Fastr.environment = before
  end

  describe "in development" do
    around { |example| in_environment("development") { example.run } }

    def answer(path = "/", &block)
      client_of(&block).get(path)
    end

    it "shows the user's line when AsyncRecord raises" do
      model = Class.new(AsyncRecord::Base) { set_table_name "none" }
      body = answer { get("/") { model.connects_to(:nowhere) || model.first } }.body
      expect(body).to include("mistakes_spec.rb, line")
      expect(body).not_to match(/^\s+\S*async_record\S+, line \d/)
    end

    it "shows the template when the template cannot be compiled" do
      root = folder("app/config/routes.rb" => "router.draw { get('/') { render template: 'a' } }",
                    "app/views/a.html.erb" => "one\n<% if %>\n")
      body = client_of(Fastr::Application.new(root)).get("/").body
      expect(body).to match(%r{^#{root}/app/views/a.html.erb, line \d}).and include("2 | <% if %>")
    end

    it "names the place of an action that returns no answer" do
      response = answer { get("/") { Object.new } }
      expect(response.body).to match(/ResponseError: .*mistakes_spec\.rb:\d+: .* returned Object;/)
        .and include("mistakes_spec.rb, line #{__LINE__ - 2}")
    end

    it "takes no part of a message for a file, and shows a controller in few words" do
      body = answer { get("/") { no_such_name } }.body
      expect(body).not_to match(/, line 0$/)
      shown = RUBY_VERSION < "3.3" ? /#<Fastr::Application route_0>/ : /an instance of/
      expect(body.lines.first).to match(/undefined local variable or method.*#{shown}/)
      expect(body.lines.first.size).to be < 160
    end

    it "says what is missing in answers below 500" do
      error = AsyncRecord::RecordNotFound.new("there is no Post with id 7")
      expect(answer { get("/") { raise error } }.body).to eq("404 Not Found: there is no Post with id 7")
    end

    it "names the file that does not define the class its name promises" do
      root = folder("app/config/routes.rb" => "", "app/controllers/a_controller.rb" => "class AController; end")
      app = Fastr::Application.new(root)
      write(root, "app/controllers/a_controller.rb" => "class BController; end # longer")
      text = nil
      eventually { (text = client_of(app).get("/").body).include?("BootError") }
      expect(text).to include("app/controllers/a_controller.rb", "line 1").and include("AController")
      expect(text).not_to include("BootError: :")
    end
  end

  it "answers 422 to a record that is not valid, without its message in production" do
    error = AsyncRecord::RecordInvalid.allocate
    def error.message = "Name can't be blank"
    response = client_of { get("/") { raise error } }.get("/")
    expect([response.status, response.body]).to eq([422, "422 Unprocessable Content"])
  end

  it "says where a JSON body is wrong without the parser's own line numbers" do
    client = client_of { post("/") { json_body } }
    body = client.post("/", body: "{", headers: { "Content-Type" => "application/json" }).body
    expect(body).to match(/\A400 Bad Request: the JSON body cannot be read: \D/)
  end

  it "ends a template's list of paths before the suggestion" do
    root = folder("app/config/routes.rb" => "router.draw { get('/') { render template: 'usr' } }",
                  "app/views/user.html.erb" => "")
    log = logged { client_of(Fastr::Application.new(root)).get("/") }
    expect(log).to match(%r{app/views/usr\.\w+\. Did you mean user\?})
  end

  describe "of a task" do
    { proc { exit } => "the task raised SystemExit: exit",
      proc { Thread.current.kill } => "the task ended its thread" }
      .each do |task, message|
        it "are the answer's, the process goes on: #{message}" do
          port = serve_app(Fastr.app do
            get("/a") { defer_response(200, {}) { |response| response.task(task) } }
            get("/b") { "goes on" }
          end)
          log = logged { raw(port, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n") }
          expect(log.scan(message).size).to eq(1)
          expect(http(port, "/b").body).to eq("goes on")
        end
      end
  end

  describe "of the one who starts it" do
    let(:exe) { File.expand_path("../../exe/fastr", __dir__) }
    let(:root) { folder("app.rb" => "require 'fastr'\nget('/') { 'a' }\n", "server.rb" => "max_body 'x'\n") }

    def start(*command, env: {})
      output, status = Open3.capture2e({ "RUBYLIB" => Support::Processes::LIBRARY }.merge(env), RbConfig.ruby,
                                       *command, chdir: root)
      [output, status.exitstatus]
    end

    it "are one line: ports that are none, values of options, a controller outside of an application" do
      wanted = [/\Afastr: 99999 is no port: .*-p PORT or in PORT\n\z/, 1]
      expect(start(exe, "server", "-p", "99999")).to match(wanted)
      expect(start("app.rb", env: { "PORT" => "abc" })).to match([/\Afastr: "abc" is no port: .*\n\z/, 1])
      expect(start(exe, "server", "-c", "server.rb")).to match([/\Afastr: an option .*max_body "x"\)\n\z/, 1])
      expect(start(exe, "generate", "controller", "x")).to match([/\Athere is no application here, .*\n\z/, 1])
      expect(Dir.exist?("#{root}/app")).to be(false)
    end

    it "are one line in migrations too" do
      write(root, "db/migrate/1_add_x.rb" => "class AddX < AsyncRecord::Migration\n  def change = add_colum(:a)\nend\n")
      expect(start(exe, "db", "migrate", env: { "DATABASE_URL" => "sqlite:a.db" }))
        .to match([%r{\Afastr db: db/migrate/1_add_x\.rb:2: undefined method .add_colum.*mean\?  add_column\n\z},
                   1])
    end
  end

  it "writes the log at once, whatever standard output is" do
    program = "require 'fastr'; get('/') { 'a' }; puts 'first'"
    root = folder("app.rb" => program)
    port = free_port
    IO.popen([{ "RUBYLIB" => Support::Processes::LIBRARY }, RbConfig.ruby, "app.rb", "-p", port.to_s,
              "-e", "development", { chdir: root }]) do |server|
      line = server.gets until line&.include?("Listening")
      http(port, "/")
      expect(Timeout.timeout(10) { server.gets }).to include("GET / 200")
    ensure
      Process.kill(:TERM, server.pid)
    end
  end

  it "gives mounted Rack applications the EventMachine that async.callback promises" do
    app = ->(_env) { [200, {}, [Object.const_defined?(:EventMachine).to_s]] }
    expect(client_of { mount app, at: "/x" }.get("/x").body).to eq("true")
  end
end
