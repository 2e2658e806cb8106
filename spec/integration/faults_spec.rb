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
    get("/kill") { Thread.current.kill }
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

  it "goes on with a new dispatcher after its thread was killed" do
    expect(http(@port, "/kill").code).to eq("500")
    expect(eventually { http(@port, "/fine").body }).to eq("fine")
  end
end
