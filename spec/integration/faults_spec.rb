# frozen_string_literal: true

require "tmpdir"

# One request's fault ends with it, whatever kind of fault: the server goes on.
RSpec.describe "An application under the server" do
  app = <<~RUBY
    require "fastr"
    get("/fine") { "fine" }
    get("/exit") { exit }
    get("/interrupt") { raise Interrupt }
    get("/term") { raise SignalException, "TERM" }
    GATE = Thread::Queue.new
    ENSURED = []
    get("/kill") do
      Thread.current.kill
    rescue StandardError
      "rescued"
    ensure
      ENSURED << true
    end
    get("/thread_exit") { Thread.exit }
    get("/wait") { GATE.num_waiting.zero? ? GATE.pop : "not alone" }
    get("/waiting") { GATE.num_waiting.to_s }
    get("/open") { GATE << "waited, \#{ENSURED.size} ended"; "opened" }
    get("/tick") { Fastr::Reactor.next_tick { exit }; "ticked" }
    get("/deep") { deep }
    def deep = deep
  RUBY

  around do |example|
    Dir.mktmpdir do |folder|
      File.write("#{folder}/app.rb", app)
      @port = free_port
      command = [RbConfig.ruby, "app.rb", "-p", @port.to_s]
      with_process(*command, port: @port, chdir: folder, env: { "FASTR_ENV" => "production" }) { example.run }
    end
  end

  %w[/exit /interrupt /term /deep].each do |path|
    it "answers 500 for #{path} and the next request as ever" do
      expect(http(@port, path).code).to eq("500")
      expect(http(@port, "/fine").body).to eq("fine")
    end
  end

  it "goes on after an exit in a callback" do
    expect(http(@port, "/tick").code).to match(/200|500/)
    expect(http(@port, "/fine").body).to eq("fine")
  end

  it "ends only the request whose code kills its thread" do
    waiting = Thread.new { http(@port, "/wait").body }
    eventually { http(@port, "/waiting").body == "1" }
    expect(http(@port, "/kill").code).to eq("500")
    expect(http(@port, "/kill").code).to eq("500")
    http(@port, "/open")
    expect(waiting.value).to eq("waited, 2 ended")
  end

  it "goes on with a new dispatcher after Thread.exit, which Ruby lets nobody keep" do
    expect(http(@port, "/thread_exit").code).to eq("500")
    expect(eventually { http(@port, "/fine").body }).to eq("fine")
  end
end
