# frozen_string_literal: true

module Fastr
  # An answer given in pieces, some time later: what `defer_response` yields. It owns the answer from its first byte to
  # its end and reports the client's leaving; how bytes leave is decided by {NativeOutput} or by the Rack server.
  #
  # @example
  #   defer_response(200, "Content-Type" => "text/plain") do |response|
  #     response.closed { log.debug "the client has left" }
  #     response.task(proc { slow_work }, proc { |result| response.send_data(result); response.succeed })
  #   end
  class DeferredResponse
    include Log

    # Three variables, as fit into an object; most answers need no others.
    # @param output [NativeOutput, nil] where data goes at once; without one it waits for a Rack server's `each`
    # @param block [Proc, nil] gives the answer once it has begun
    def initialize(output = nil, block = nil)
      @output = output
      @state = :open
      @block = block
    end

    # Sends a piece. After the end, or once the client has left, nothing is sent.
    # @param data [String]
    # @return [Integer] bytes still queued for the client; a large number means that it is slow, see {#drain}
    def send_data(data)
      return 0 unless @state == :open
      return @output.write(data) if @output

      @sink ? @sink.call(data) : (@waiting ||= []) << data
      0
    rescue DisconnectedError
      set_deferred_failure
      0
    end

    # Waits until the client has taken what is queued (in a fiber), or calls the block then.
    # @return [void]
    def drain(&block)
      return block&.call unless @output && @state == :open

      @output.drain(&block)
    end

    # Ends the answer.
    # @return [self]
    def succeed(*arguments)
      conclude(:succeeded, arguments) { @output&.finish }
    end
    alias finish succeed
    alias set_deferred_success succeed

    # Cuts the answer visibly: the client can tell that it is not complete. Runs the `closed` blocks.
    # @return [self]
    def fail(*arguments)
      conclude(:failed, arguments) { @output&.abort }
    end
    alias set_deferred_failure fail

    # Runs a block after {#succeed}; at once if that has happened.
    # @return [self]
    def callback(&block)
      register(:succeeded, block)
    end

    # Runs a block after {#fail} or when the client leaves; at once if that has happened.
    # @return [self]
    def errback(&block)
      register(:failed, block)
    end

    # Runs a block when the client leaves before the end.
    # @return [self]
    def closed(&block)
      errback(&block)
    end

    # @return [Boolean] whether data can still be sent
    def open?
      @state == :open
    end

    # Runs code that blocks on a pool of 20 threads, then the callback on the dispatcher. `return` works in both.
    # @param operation [#call] no arguments
    # @param callback [#call, nil] gets the operation's value
    # @return [void]
    def task(operation = nil, callback = nil, &block)
      TaskPool.shared.submit(operation || block) do |value, error|
        guard { error ? raise(error) : callback && Callable.call(callback, value) }
      end
    end

    # Hands over the block that sends (Rack servers call it once).
    # @yieldparam data [String]
    def each(&sink)
      @sink = sink
      @waiting&.each(&sink)
      @waiting = nil
    end

    # Sends the headers and runs the block that gives the answer, on the native path.
    # @api private
    def begin
      guard do
        @output.start
        @output.request.in_flight[self] = true
        Callable.call(@block, self)
      end
    end

    # The client has left before the end; after it, this does nothing.
    # @api private
    def client_left
      fail
    end

    # Runs a block of the application; what it raises is logged and ends this answer.
    # @api private
    def guard
      yield
    rescue DisconnectedError
      fail
    rescue StandardError, ScriptError, SystemStackError => e
      failed_by(e)
    end

    private

    def failed_by(error)
      ErrorLog.write(error, @output&.request)
      return self.fail unless @output && @state == :open && !@output.started?

      @state = :failed
      @output.replace(ErrorResponse.for(error, @output.request))
    end

    def conclude(state, arguments)
      return self unless @state == :open

      @state = state
      begin
        yield
      rescue DisconnectedError
        nil
      end
      run(state == :succeeded ? @callbacks : @errbacks, arguments)
      self
    end

    def run(blocks, arguments)
      @callbacks = @errbacks = nil
      blocks&.each { |block| guard { Callable.call(block, *arguments) } }
    end

    def register(state, block)
      return self if block.nil?

      case @state
      when :open then (state == :succeeded ? @callbacks ||= [] : @errbacks ||= []) << block
      when state then guard { Callable.call(block) }
      end
      self
    end
  end

  # The name of 2010.
  DeferrableResponse = DeferredResponse

  # Where a deferred response's data goes on the native path: the request itself.
  class NativeOutput
    # @return [Request]
    attr_reader :request

    # @param request [Request]
    # @param status [Integer]
    # @param headers [Hash]
    def initialize(request, status, headers)
      @request = request
      @status = status
      @headers = headers
    end

    # @return [Boolean] whether headers have left
    def started?
      @headers.nil?
    end

    # Sends the head, which waits a moment for the first data.
    def start
      @request.defer(@status, @headers)
      @headers = nil
    end

    # @return [Integer] bytes still queued
    def write(data)
      @request.write(data)
    end

    # Waits for the client, or calls the block when it has caught up.
    def drain(&block)
      return Completion.await { |sink| @request.drain(sink) } unless block

      Completion.start { |sink| @request.drain(sink) }.callback { block.call }
    end

    # Ends the answer.
    def finish
      @request.finish
    end

    # Cuts the answer.
    def abort
      @request.abort
    end

    # Answers with something else, before anything has left.
    def replace(triple)
      Response.deliver(@request, *triple)
    end
  end
  private_constant :NativeOutput
end
