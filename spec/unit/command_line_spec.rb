# frozen_string_literal: true

require "open3"

RSpec.describe "the command line" do
  let(:exe) { File.expand_path("../../exe/fastr", __dir__) }

  def fastr(*arguments, chdir:, env: {})
    output, status = Open3.capture2e({ "RUBYLIB" => Support::Processes::LIBRARY, "FASTR_ENV" => nil }.merge(env),
                                     RbConfig.ruby, exe, *arguments, chdir: chdir)
    [output, status.exitstatus]
  end

  it "makes an application of 2010 and never overwrites it" do
    root = folder({})
    FileUtils.mkdir_p(root)
    output, = fastr("init", "hello", chdir: root)
    expect(output).to eq("hello initialized!\n")
    wanted = %w[app/config/routes.rb app/config/settings.rb app/config/init.rb app/controllers app/views app/models lib
                test/test_helper.rb test/unit public custom/plugins config.ru Gemfile Rakefile]
    expect(wanted.reject { |path| File.exist?("#{root}/hello/#{path}") }).to eq([])
    expect(fastr("init", "hello", chdir: root)).to eq(["directory already exists\n", 0])
  end

  it "makes an application of today that answers, is tested and is not overwritten" do
    root = folder({})
    output, = fastr("new", "blog", chdir: root)
    expect(output).to include("create  blog/config.ru", "Next:", "fastr server")
    expect(fastr("new", "blog", chdir: root)).to eq(["blog exists already; choose another name\n", 1])
    expect(client_of(Fastr::Application.new("#{root}/blog")).get("/").body).to include("<h1>blog is running</h1>")
  end

  it "makes a controller with a test, and with actions and views" do
    root = folder("test/unit/.keep" => "", "app/controllers/.keep" => "")
    output, = fastr("generate", "controller", "user_admin", chdir: root)
    expect(output).to eq("Creating controller: app/controllers/user_admin_controller.rb\n" \
                         "Creating test class: test/unit/test_user_admin_controller.rb\n")
    expect(File.read("#{root}/app/controllers/user_admin_controller.rb"))
      .to include("class UserAdminController < Fastr::Controller")
    expect(fastr("generate", "controller", "user_admin", chdir: root).first).to eq("Controller already exists.\n")
    output, = fastr("g", "controller", "Posts", "index", chdir: root)
    expect(output).to include("In app/config/routes.rb", %(get "/posts/index", to: "posts#index"))
    expect(File.read("#{root}/app/controllers/posts_controller.rb"))
      .to include("def index\n    render template: \"posts/index\"")
  end

  it "tells mistakes in one line with exit code 1" do
    root = folder({})
    expect(fastr("generate", "controler", "x",
                 chdir: root)).to match([/\Aunknown generator: controler\. Did you mean controller\?.*\n\z/, 1])
    expect(fastr("generate", "model", "post", chdir: root)).to match([/for a table: fastr db new create_posts/, 1])
    expect(fastr("generate", "controller", "../x", chdir: root)).to match([%r{\A"\.\./x" is no name.*\n\z}, 1])
    expect(fastr("servr", chdir: root)).to match([/Did you mean\?\s+"server"/, 1])
    expect(fastr("server", chdir: root)).to match([/\Athere is no application here.*fastr new NAME\n\z/, 1])
    expect(fastr("server", "nope.ru", chdir: root)).to match([/\Athere is no nope\.ru here/, 1])
  end

  it "names file, line and nearest word of a mistake in a file, without a backtrace" do
    root = folder("app.rb" => "require 'fastr'\ngett('/') { '' }\n", "server.rb" => "prot 1\n",
                  "config.ru" => "require 'fastr'\nrun Fastr::Application.new(__dir__)",
                  "app/config/routes.rb" => "router.drow {}")
    expect(fastr("server", "app.rb", chdir: root)).to match([/\A.*app\.rb:2: .*gett.*Did you mean get\?\n\z/, 1])
    expect(fastr("server", "-c", "server.rb",
                 chdir: root)).to match([/server\.rb:1: there is no option prot\. Did you mean port\?\n\z/, 1])
    expect(fastr("server", "-e", "production", chdir: root)).to match([/routes\.rb:1: .*drow/, 1])
  end

  it "lists routes, filtered and as JSON" do
    root = folder("app.rb" => "require 'fastr'\nget('/a/:id', id: Integer) { '' }\npost('/b', as: :b) { '' }\n")
    output, = fastr("routes", chdir: root)
    expect(output.lines.map(&:chomp)).to match([%r{\AGET   /a/:id  block     id=/-\?\\d\+/  app\.rb:2},
                                                %r{\APOST  /b      block  b.*app\.rb:3}])
    expect(fastr("routes", "-g", "POST", chdir: root).first.lines.size).to eq(1)
    expect(JSON.parse(fastr("routes", "--json", chdir: root).first).map do |route|
             route["path"]
           end).to eq(["/a/:id", "/b"])
  end

  it "prints its version" do
    expect(fastr("version", chdir: "/").first).to start_with("fastr #{Fastr::VERSION}")
  end

  it "serves a config.ru, a single file and a plain folder" do
    files = { "app/config/routes.rb" => "router.draw { get('/') { 'folder' } }" }
    roots = [folder("config.ru" => "run ->(env) { [200, {}, ['rack']] }"),
             folder("app.rb" => "require 'fastr'\nget('/') { 'single' }"), folder(files)]
    bodies = roots.map do |root|
      port = free_port
      with_process(RbConfig.ruby, exe, "server", "-p", port.to_s, port: port, chdir: root) { http(port, "/").body }
    end
    expect(bodies).to eq(%w[rack single folder])
  end

  it "lets `ruby app.rb` serve by itself, with the words only on the main object" do
    root = folder("app.rb" => "require 'fastr'\nget('/') { Object.new.respond_to?(:get, true).to_s }")
    port = free_port
    body = with_process(RbConfig.ruby, "app.rb", "-p", port.to_s, port: port, chdir: root) { http(port, "/").body }
    expect(body).to eq("false")
  end

  it "loads a single file again in development, and shows a mistake in it until it is mended" do
    root = folder("app.rb" => "require 'fastr'\nget('/') { 'one' }")
    port = free_port
    with_process(RbConfig.ruby, "app.rb", "-p", port.to_s, port: port, chdir: root) do
      expect(http(port, "/").body).to eq("one")
      write(root, "app.rb" => "require 'fastr'\nget('/') { 'two!' }")
      eventually { http(port, "/").body == "two!" }
      write(root, "app.rb" => "require 'fastr'\nget('/' { 'broken' }")
      eventually { http(port, "/").body.include?("app.rb:2") }
      write(root, "app.rb" => "require 'fastr'\nget('/') { 'mended' }")
      eventually { http(port, "/").body == "mended" }
    end
  end

  it "leaves a program alone that only uses the library, and its own methods of the same names" do
    root = folder("plain.rb" => "require 'fastr'\ndef get(path) = \"own \#{path}\"\nputs get('/')\n")
    output = IO.popen({ "RUBYLIB" => Support::Processes::LIBRARY }, [RbConfig.ruby, "-w", "plain.rb"], chdir: root,
                      &:read)
    expect(output).to eq("own /\n")
  end
end
