# frozen_string_literal: true

require "base64"
require "fileutils"
require "io/nonblock"
require "io/wait"
require "json"
require "tmpdir"

module Support
  # A real browser without a window: Chromium, told what to do by its DevTools protocol over a pair of pipes (JSON
  # messages, each ended by a NUL), so that neither a driver nor a port is needed. It owns one page; what a page means
  # is the specs' business.
  class Browser
    PROGRAMS = %w[chromium-headless-shell chromium].freeze
    # It runs as root in a container, has no graphics card, and must ask nobody on the network.
    OPTIONS = %w[--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --remote-debugging-pipe
                 --no-first-run --disable-extensions --disable-background-networking --disable-component-update
                 --no-proxy-server].push("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1").freeze
    # Seconds that any answer of the browser may take.
    LIMIT = 60
    private_constant :PROGRAMS, :OPTIONS, :LIMIT

    # What a page looks like on this device: width, height, and whether it is a phone.
    Screen = Struct.new(:width, :height, :phone)
    DESKTOP = Screen.new(1280, 800, false)
    PHONE = Screen.new(360, 740, true)

    class << self
      # @return [String, nil] the program's path
      def program
        folders = ENV.fetch("PATH", "").split(":")
        PROGRAMS.product(folders).map { |name, folder| File.join(folder, name) }.find { |path| File.executable?(path) }
      end

      # Opens a browser for the block; it ends with it.
      # @yieldparam browser [Browser]
      def open
        browser = new
        yield browser
      ensure
        browser&.close
      end
    end

    # What scripts wrote to the console, raised or asked, and what could not be loaded.
    # @return [Array<String>]
    attr_reader :complaints

    def initialize
      @profile = Dir.mktmpdir("fastr-browser")
      commands, @to = IO.pipe
      @from, answers = IO.pipe
      # Ruby's pipes do not block, which the browser takes for their end.
      [commands, answers].each { |pipe| pipe.nonblock = false }
      @pid = Process.spawn({ "HOME" => @profile }, self.class.program, *OPTIONS, "--user-data-dir=#{@profile}",
                           3 => commands, 4 => answers, out: File::NULL, err: File::NULL, pgroup: true)
      [commands, answers].each(&:close)
      @last_id = 0
      @complaints = []
      @events = []
      attach
    end

    # @return [void]
    def close
      [@to, @from].each(&:close)
      Process.kill(:KILL, -@pid)
      Process.wait(@pid)
    ensure
      FileUtils.rm_rf(@profile)
    end

    # Goes to a page and returns when it is loaded, scripts and style sheets included.
    # @return [self]
    def visit(url)
      loading { tell("Page.navigate", url: url) }
      self
    end

    # Goes to a page and returns when its first bytes are there.
    # @return [self]
    def visit_first_part(url)
      @events.clear
      tell("Page.navigate", url: url)
      self
    end

    # Does what makes the page load another, and waits for that one.
    # @return [void]
    def loading
      @events.clear
      yield
      read_message until @events.include?("Page.loadEventFired")
    end

    # @return [Object] what a JavaScript expression gives on the page, as JSON would carry it
    def evaluate(expression)
      answer = tell("Runtime.evaluate", expression: expression, returnByValue: true, awaitPromise: true)
      raise "#{expression}: #{answer.dig("exceptionDetails", "exception", "description")}" if answer["exceptionDetails"]

      answer.dig("result", "value")
    end

    # @return [String] what a reader of the page sees
    def text
      evaluate("document.body ? document.body.innerText : ''")
    end

    # @return [String] what of the page the selector finds first
    def text_of(selector)
      evaluate("document.querySelector(#{JSON.generate(selector)}).innerText")
    end

    # Types into a field as a person does.
    # @return [void]
    def type(selector, text)
      evaluate("document.querySelector(#{JSON.generate(selector)}).focus()")
      tell("Input.insertText", text: text)
    end

    # Presses the mouse on the middle of an element.
    # @return [void]
    def click(selector)
      x, y = evaluate(<<~JAVASCRIPT)
        (() => { const box = document.querySelector(#{JSON.generate(selector)}).getBoundingClientRect();
                 return [box.x + box.width / 2, box.y + box.height / 2] })()
      JAVASCRIPT
      %w[mousePressed mouseReleased].each do |kind|
        tell("Input.dispatchMouseEvent", type: kind, x: x, y: y, button: "left", clickCount: 1)
      end
    end

    # @param screen [Screen]
    # @param dark [Boolean] whether the person prefers a dark scheme
    # @return [self]
    def show_on(screen, dark: false)
      tell("Emulation.setDeviceMetricsOverride", width: screen.width, height: screen.height, deviceScaleFactor: 1,
                                                 mobile: screen.phone)
      tell("Emulation.setEmulatedMedia", features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }])
      self
    end

    # @return [void]
    def screenshot(path)
      File.binwrite(path, Base64.decode64(tell("Page.captureScreenshot", format: "png").fetch("data")))
    end

    private

    def attach
      page = tell("Target.createTarget", url: "about:blank").fetch("targetId")
      @session = tell("Target.attachToTarget", targetId: page, flatten: true).fetch("sessionId")
      %w[Page Runtime Log].each { |domain| tell("#{domain}.enable") }
    end

    def tell(method, **params)
      id = send_message(method, **params)
      answer = read_message until answer && answer["id"] == id
      raise "#{method}: #{answer["error"]}" if answer["error"]

      answer.fetch("result")
    end

    def read_message
      raise "the browser said nothing for #{LIMIT} s" unless buffered? || @from.wait_readable(LIMIT)

      @buffer << @from.readpartial(65_536) until buffered?
      message = JSON.parse(@buffer.slice!(0..@buffer.index("\0")).chomp("\0").force_encoding(Encoding::UTF_8))
      note(message)
      message
    end

    def buffered?
      (@buffer ||= +"".b).include?("\0")
    end

    def note(message)
      @events << message["method"] if message["method"]
      case message["method"]
      when "Runtime.exceptionThrown" then @complaints << message.dig("params", "exceptionDetails").to_s
      when "Runtime.consoleAPICalled" then @complaints << message["params"].to_s
      when "Log.entryAdded" then @complaints << message.dig("params", "entry").values_at("text", "url").join(" ")
      when "Page.javascriptDialogOpening"
        @complaints << "a dialog: #{message.dig("params", "message")}"
        send_message("Page.handleJavaScriptDialog", accept: true)
      end
    end

    def send_message(method, **params)
      message = { id: @last_id += 1, method: method, params: params, sessionId: @session }.compact
      @to.write("#{JSON.generate(message)}\0")
      @last_id
    end
  end
end
