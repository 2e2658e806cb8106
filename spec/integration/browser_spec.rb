# frozen_string_literal: true

require "open3"
require "tmpdir"

# The pages that fastr shows, in a real browser: what a person sees of them, and what scripts do in them.
RSpec.describe "In a browser", limit: 150 do
  include Support::ShownPages

  before(:context) do
    skip "without a browser, as FASTR_BROWSER=none says" if ENV["FASTR_BROWSER"] == "none"
    Support::Browser.program || raise("no browser here: bin/setup test installs it; FASTR_BROWSER=none goes without")

    @root = Dir.mktmpdir("fastr-pages")
    @folder = shown_application(@root)
    @browser = Support::Browser.new
    @served = {}
  end

  after(:context) do
    @browser&.close
    @served&.each_value { |served| end_process(served.pid) }
    FileUtils.rm_rf(@root) if @root
  end

  before do
    @browser.complaints.clear
    @browser.show_on(Support::Browser::DESKTOP)
  end

  attr_reader :browser

  # The application in that environment, one process for all examples.
  def served(environment)
    @served[environment] ||= serve_folder(@folder, environment)
  end

  def development
    served("development").url
  end

  def production
    served("production").url
  end

  # What every page must be: in a language and a charset, with a title, as wide as the device, in its scheme, legible.
  def expect_good_page
    head = browser.evaluate("[document.documentElement.lang, document.characterSet, document.title]")
    expect(head).to match(["en", "UTF-8", /\S/])
    browser.show_on(Support::Browser::PHONE)
    expect(browser.evaluate("[innerWidth, document.documentElement.scrollWidth]")).to eq([360, 360])
    [false, true].each do |dark|
      browser.show_on(Support::Browser::DESKTOP, dark: dark)
      expect(contrasts).to all(be >= 4.5), "in the #{dark ? "dark" : "light"} scheme"
      color = browser.evaluate("getComputedStyle(document.body).color")
      expect(color).to eq(dark ? "rgb(255, 255, 255)" : "rgb(0, 0, 0)")
    end
  end

  # WCAG's contrast of each text against the colour behind it.
  def contrasts
    browser.evaluate(<<~JAVASCRIPT)
      (() => {
        const numbers = text => (text.match(/[\\d.]+/g) || []).map(Number);
        const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
          .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
          .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        const probe = document.body.appendChild(document.createElement("i"));
        probe.style.background = "Canvas"; // what is behind everything, in the page's scheme
        const canvas = numbers(getComputedStyle(probe).backgroundColor);
        probe.remove();
        const behind = node => {
          for (; node; node = node.parentElement) {
            const color = numbers(getComputedStyle(node).backgroundColor);
            if (color.length === 3 || color[3] > 0) return color;
          }
          return canvas;
        };
        return [...document.body.querySelectorAll("*")].filter(node => node.innerText).map(node => {
          const [a, b] = [light(numbers(getComputedStyle(node).color)), light(behind(node))];
          return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        });
      })()
    JAVASCRIPT
  end

  it "a new application shows its start page, styled by public/" do
    browser.visit("#{development}/")
    expect(browser.text_of("h1")).to eq("guestbook is running")
    expect(browser.evaluate("getComputedStyle(document.body).maxWidth")).to eq("640px")
    expect_good_page
    expect(browser.complaints).to be_empty
  end

  it "a form is filled in and sent; what was typed comes back as text, whatever it is" do
    browser.visit("#{development}/guests/new")
    expect(browser.evaluate("document.documentElement.dataset.script")).to eq("ran")
    browser.type("input", "Zoë #{Support::ShownPages::SCRIPT}")
    browser.loading { browser.click("button") }
    expect(browser.text_of("h1")).to eq("Welcome, Zoë #{Support::ShownPages::SCRIPT}")
    expect(browser.evaluate("window.owned")).to be_nil
    expect(browser.complaints).to be_empty
  end

  it "a streamed page shows each part when it was written" do
    browser.visit_first_part("#{production}/parts")
    eventually(within: 20) { browser.text.include?("part 1") }
    expect(browser.text).not_to include("part 2")
    http(served("production").port, "/next")
    eventually(within: 20) { browser.text.include?("part 2") }
    expect(browser.complaints).to be_empty
  end

  it "an error in development shows where and what, and runs nothing of what the client sent" do
    browser.visit("#{development}/raise?thing=#{URI.encode_www_form_component(Support::ShownPages::SCRIPT)}")
    expect(browser.text_of("h1")).to eq("ArgumentError")
    expect(browser.text).to include("no such thing: #{Support::ShownPages::SCRIPT}",
                                    "app/controllers/mistakes_controller.rb, line 3")
    expect(browser.text_of("b")).to include("raise ArgumentError")
    expect(browser.evaluate("[window.owned, document.scripts.length, document.images.length]")).to eq([nil, 0, 0])
    expect_good_page
  end

  it "a template that is missing is named in development, with the paths tried" do
    browser.visit("#{development}/missing")
    expect(browser.text_of("h1")).to eq("Fastr::TemplateMissing")
    expect(browser.text).to include("mistakes/missing", "app/controllers/mistakes_controller.rb, line 7")
    expect_good_page
  end

  it "an error in production says no more than that" do
    browser.visit("#{production}/raise?thing=secret")
    expect(browser.text.strip).to eq("500 Internal Server Error")
    expect(browser.evaluate("document.documentElement.innerHTML")).not_to include("secret", "mistakes")
    expect_good_page
  end

  %w[development production].each do |environment|
    it "a path without a route is a page in #{environment}, and runs nothing of what the client sent" do
      browser.visit("#{served(environment).url}/nowhere/#{URI.encode_www_form_component(Support::ShownPages::SCRIPT)}")
      expect(browser.text_of("h1")).to eq("404 Not Found")
      expect(browser.text).to include("/nowhere/")
      expect(browser.evaluate("[window.owned, document.scripts.length, document.images.length]")).to eq([nil, 0, 0])
      expect_good_page
      expect(http(served(environment).port, "/nowhere").body).to eq("404 Not Found: /nowhere")
    end
  end

  it "the example shows usernames, in any script" do
    example = File.expand_path("../../examples/usernames", __dir__)
    environment = { "DATABASE_URL" => "sqlite:#{@root}/usernames.sqlite3", "RUBYLIB" => Support::Processes::LIBRARY }
    fastr = File.expand_path("../../exe/fastr", __dir__)
    %w[migrate seed].each do |command|
      output, status = Open3.capture2e(environment, RbConfig.ruby, fastr, "db", command, chdir: example)
      expect(status).to be_success, output
    end
    served = @served[:example] = serve_folder(example, "development", env: environment)
    http(served.port, "/users", method: "POST", body: "username=Bj%C3%B6rk")
    browser.visit("#{served.url}/")
    expect(browser.text).to eq("alice\nbob\ncarol\ndave\nerin\n")
    browser.visit("#{served.url}/users/6")
    expect(JSON.parse(browser.text)).to include("username" => "Björk")
  end
end
