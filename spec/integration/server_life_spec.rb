# frozen_string_literal: true

require "timeout"

# A server process from its first line to its exit code.
RSpec.describe "The life of a server process" do
  let(:program) do
    <<~'RUBY'
      require "fastr"
      app = lambda do |env|
        case env["PATH_INFO"]
        when "/slow" then sleep(0.4)
        when "/long" then sleep(30)
        when "/busy" then loop { nil }
        end
        [200, { "content-type" => "text/plain" }, [env["PATH_INFO"]]]
      end
      options = { port: Integer(ENV.fetch("PORT")), quiet: true, shutdown_timeout: Float(ENV.fetch("DEADLINE", "10")) }
      Fastr.run(app, **options)
    RUBY
  end

  # Runs the program and gives its process id; the block's end ends it.
  def with_server(port: free_port, env: {}, before: [])
    env = { "PORT" => port.to_s, "RUBYLIB" => Support::Processes::LIBRARY }.merge(env)
    pid = Process.spawn(env, *before, RbConfig.ruby, "-e", program, out: File::NULL, err: File::NULL)
    eventually(within: 20) { answers?(port) }
    yield pid, port
  ensure
    end_process(pid) if pid && !@ended
  end

  def answers?(port)
    TCPSocket.open("127.0.0.1", port, &:close)
    true
  rescue SystemCallError
    false
  end

  # @return [Process::Status]
  def ended(pid, within: 8)
    status = nil
    eventually(within: within) { (_, status = Process.wait2(pid, Process::WNOHANG)) && status }
    @ended = true
    status
  end

  it "answers what is in flight at TERM with Connection: close, and exits with 0" do
    with_server do |pid, port|
      talk(port) do |socket, reader|
        socket.write(get("/"))
        expect(reader.answer["connection"]).to be_nil
        socket.write(get("/slow"))
        sleep 0.1 # the request has to arrive; nothing outside shows that
        Process.kill(:TERM, pid)
        answer = reader.answer
        expect([answer.body, answer["connection"]]).to eq(["/slow", "close"])
        expect(reader).to be_ended
      end
      expect(ended(pid).exitstatus).to eq(0)
    end
  end

  it "closes idle connections at TERM at once, new ones and kept ones, and ones that sent half of a head" do
    with_server do |pid, port|
      talk(port) do |kept, kept_reader|
        kept.write(get)
        kept_reader.answer
        talk(port) do |_, new_reader|
          talk(port) do |half, half_reader|
            half.write("GET / HT")
            Process.kill(:TERM, pid)
            seconds = elapsed do
              expect([kept_reader, new_reader]).to all(be_ended)
              half_reader.rest
            end
            expect(seconds).to be < 2
          end
        end
      end
      expect(ended(pid).exitstatus).to eq(0)
    end
  end

  it "refuses new connections while it drains" do
    with_server do |pid, port|
      talk(port) do |socket, reader|
        socket.write(get("/slow"))
        sleep 0.1 # as above
        Process.kill(:INT, pid)
        eventually { !answers?(port) }
        expect(reader.answer.body).to eq("/slow")
      end
      expect(ended(pid).exitstatus).to eq(0)
    end
  end

  it "cuts what is not answered at the deadline" do
    with_server(env: { "DEADLINE" => "0.3" }) do |pid, port|
      talk(port) do |socket, _|
        socket.write(get("/long"))
        sleep 0.1 # as above
        Process.kill(:TERM, pid)
        expect(elapsed { expect(ended(pid).exitstatus).to eq(0) }).to be_between(0.2, 4)
      end
    end
  end

  it "ends at the deadline even when Ruby code holds the dispatcher" do
    with_server(env: { "DEADLINE" => "0.3" }) do |pid, port|
      talk(port) do |socket, _|
        socket.write(get("/busy"))
        sleep 0.1 # as above
        Process.kill(:TERM, pid)
        expect(elapsed { expect(ended(pid).exitstatus).to eq(0) }).to be < 6
      end
    end
  end

  it "ends at once at the second signal" do
    with_server do |pid, port|
      talk(port) do |socket, _|
        socket.write(get("/long"))
        sleep 0.1 # as above
        Process.kill(:TERM, pid)
        eventually { !answers?(port) }
        Process.kill(:TERM, pid)
        expect(elapsed { expect(ended(pid).exitstatus).to eq(128 + 15) }).to be < 2
      end
    end
  end

  it "starts on the same port right after, though connections of the old one linger" do
    port = nil
    with_server do |pid, first_port|
      port = first_port
      5.times { ask(port, get("/", Connection: "close")) }
      Process.kill(:TERM, pid)
      ended(pid)
    end
    @ended = false
    with_server(port: port) { expect(ask(port, get).status).to eq(200) }
  end

  it "says in one line that a port is in use, and exits with 1" do
    TCPServer.open("127.0.0.1", 0) do |taken|
      output, status = run_ruby(program, env: { "PORT" => taken.addr[1].to_s })
      expect(output.lines.size).to eq(1)
      expect(output).to match(/\Afastr: .*#{taken.addr[1]}.*in use.*-p PORT/)
      expect(status.exitstatus).to eq(1)
    end
  end

  it "pauses accepting without descriptors, does not spin, and goes on when there are some" do
    with_server(before: %w[prlimit --nofile=40]) do |pid, port|
      open = Array.new(60) { TCPSocket.open("127.0.0.1", port) }
      before = processor_time(pid)
      sleep 0.5 # the time in which it must not work
      expect(processor_time(pid) - before).to be < 0.25
      open.each(&:close)
      expect(ask(port, get).status).to eq(200)
      20.times { expect(ask(port, get).status).to eq(200) }
    end
  end

  def processor_time(pid)
    fields = File.read("/proc/#{pid}/stat").split(") ").last.split
    fields.values_at(11, 12).sum(&:to_i) / Etc.sysconf(Etc::SC_CLK_TCK).to_f
  end
end
