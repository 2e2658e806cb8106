# frozen_string_literal: true

# More requests than a pool can serve, half of whose clients leave in the middle: what the others get, and what remains.
RSpec.describe AsyncRecord, "behind a web application that is overloaded", limit: 60 do
  each_database(:postgresql, :mysql) do
    let(:overloaded) { fresh_database(size: 2, pool_timeout: 0.5, max_waiting: 1000) }

    before do
      database = overloaded
      slow = sleep_sql(0.1)
      @port = serve_app(Fastr.app do
        get("/query") { database.query(slow) && "done" }
        get("/transaction") { AsyncRecord.transaction(database: database) { |tx| tx.query(slow) && "done" } }
        get("/stream") { database.stream(slow) { |_| nil } && "done" }
        get("/gather") { AsyncRecord.gather(*Array.new(2) { -> { database.query(slow) } }) && "done" }
        get("/calling") do
          database.query(slow) { async_resp { "done" } }
          render_async
        end
        get("/hello") { "hello" }
      end)
    end

    def ask(path)
      socket = TCPSocket.new("127.0.0.1", @port)
      socket.write("GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      socket
    end

    # @return [Array<String>] status and Retry-After
    def answer(socket)
      text = socket.read
      [text[%r{\AHTTP/1.1 (\d+)}, 1], text[/^retry-after: (\d+)/i, 1]]
    ensure
      socket.close
    end

    # What is left when the last client has gone: nothing.
    def expect_rest
      eventually { overloaded.stats.values_at(:busy, :waiting) == [0, 0] }
      expect(answer(ask("/query"))).to eq(["200", nil])
    end

    %w[query transaction stream gather calling].each do |work|
      it "serves or refuses each of 200 requests (#{work}) and forgets those who left" do
        sockets = Array.new(200) { ask("/#{work}") }
        sleep 0.1
        stay, leave = sockets.each_with_index.partition { |_, index| index.even? }
        leave.each { |socket, _| socket.close }
        expect(answer(ask("/hello"))).to eq(["200", nil])
        answers = nil
        took = elapsed { answers = stay.map { |socket, _| answer(socket) } }
        expect(answers.uniq).to contain_exactly(["200", nil], %w[503 1])
        expect(took).to be < relaxed(3)
        expect_rest
      end
    end

    it "refuses at once what exceeds the line" do
      short = open_database(overloaded.url, size: 2, pool_timeout: 5, max_waiting: 3)
      waiting = Array.new(5) { described_class.async { short.query(sleep_sql(0.3)) } }
      eventually { short.stats[:waiting] == 3 }
      took = elapsed { expect { short.query("select 1") }.to raise_error(AsyncRecord::PoolTimeout, /waiting 3/) }
      expect(took).to be < relaxed(0.1)
      expect(described_class.gather(*waiting).size).to eq(5)
    end
  end
end
