# frozen_string_literal: true

require "fastr/rack_handler"
require "tmpdir"

RSpec.describe Fastr::RackHandler do
  it "is found by `rackup -s fastr`" do
    port = free_port
    Dir.mktmpdir do |folder|
      File.write("#{folder}/config.ru", "run ->(env) { [200, { 'content-type' => 'text/plain' }, [env['PATH_INFO']]] }")
      with_process("rackup", "-s", "fastr", "-p", port.to_s, "-o", "127.0.0.1", port: port, chdir: folder) do
        expect(http(port, "/hello").body).to eq("/hello")
      end
    end
  end

  it "takes String and Symbol keys, and leaves what it does not know alone" do
    seen = nil
    allow(Fastr).to receive(:run) { |_app, **options| seen = options }
    described_class.run(-> {}, "Host" => "127.0.0.1", Port: "8080", daemonize: false, user_supplied_options: [])
    expect(seen).to eq(host: "127.0.0.1", port: 8080)
  end
end
