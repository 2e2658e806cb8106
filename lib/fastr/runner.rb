# frozen_string_literal: true

# Serving an application: `Fastr.run` and what stands behind it.
module Fastr
  # Runs one application behind one server, from the boot line to a clean end. It owns the order of starting and
  # stopping and the signals meanwhile; what a request does is the application's business.
  class Runner
    # Seconds that requests in flight get to finish after the first INT or TERM.
    SHUTDOWN_TIMEOUT = 30
    # Seconds that the dispatcher gets to end when all is answered or cut.
    CUT_TIMEOUT = 1
    SIGNALS = %w[INT TERM].freeze
    private_constant :CUT_TIMEOUT, :SIGNALS

    # @return [Server, nil] the native server while it listens
    attr_reader :server

    # @param app [Application, Class, #call] an application, or any Rack application
    # @param host [String, nil] nil: 127.0.0.1 in development, 0.0.0.0 elsewhere; the variables BINDING and HOST come
    #   before that
    # @param port [Integer, nil] nil: the variable PORT, else 3000; 0 picks a free one
    # @param shutdown_timeout [Numeric] seconds that requests in flight get to finish
    # @param quiet [Boolean] no boot lines
    # @param options [Hash] limits and times of the server, see {file:docs/server.md}
    def initialize(app, host: nil, port: nil, shutdown_timeout: SHUTDOWN_TIMEOUT, quiet: false, **options)
      @app = RackHost.wrap(app)
      @host = host || default_host
      @port = checked_port(port || ENV.fetch("PORT", "3000"))
      @shutdown_timeout = shutdown_timeout
      @quiet = quiet
      @options = options.transform_keys(&:to_s)
      @signals = 0
    end

    # Listens and serves until {#stop} or a signal. The dispatcher gets its own thread; the calling one waits for it.
    # @yieldparam runner [Runner] once the server listens
    # @raise [BindError] when the address cannot be had
    # @return [void]
    def run
      write_at_once
      JIT.enable
      Headroom.make
      listen
      previous = trap_signals
      serve_in_thread
      yield self if block_given?
      serve_again while killed?
    ensure
      restore_signals(previous) if previous
    end

    # @return [Integer] the port it listens on
    def port
      @server ? @server.port : @port
    end

    # @return [String]
    def url
      host = %w[0.0.0.0 ::].include?(@host) ? "127.0.0.1" : @host
      "http://#{host.include?(':') ? "[#{host}]" : host}:#{port}"
    end

    # Stops accepting, lets requests in flight finish, then ends {#run}. Callable from any thread and in a trap handler.
    # It takes a thread of its own: code that never waits may hold the dispatcher.
    # @return [void]
    def stop
      @stopping ||= Thread.new { drain }
      nil
    end

    private

    def listen
      options = { "host" => @host, "port" => @port, "public" => @app.public_root }.compact.merge(@options)
      @server = Server.listen(options, @app.route_table)
    rescue RangeError, TypeError => error
      given = options.except("public").map { |name, value| "#{name} #{value.inspect}" }.join(", ")
      raise ConfigurationError, "an option of the server has a value that it cannot have: #{error.message} (#{given})"
    end

    # A log line that waits in a buffer is lost with the process. What is in the buffer already would hold up the rest.
    def write_at_once
      $stdout.flush
      $stdout.sync = true
    end

    def checked_port(value)
      port = Integer(value.to_s, 10, exception: false)
      return port if port&.between?(0, 65_535)

      raise ConfigurationError, "#{value.inspect} is no port: give a number from 0 to 65535 with -p PORT or in PORT"
    end

    def serve_in_thread
      @served = false
      @serving = Thread.new { serve }
    end

    # Waits for the end of serving; whether it was neither {#stop} nor an error.
    def killed?
      @serving.join
      !@served && !@stopping
    end

    # `Thread.exit` in an action ends the dispatcher's thread: it asks no method that could keep it. What waited in it
    # is answered 500; whoever comes next finds a new one. (`Thread.current.kill` ends only its request.)
    def serve_again
      Application.logger.error("the dispatcher's thread was killed by the application; a new one takes over")
      @quiet = true
      serve_in_thread
    end

    def serve
      Thread.current.name = "fastr-dispatcher"
      Thread.current.report_on_exception = false
      dispatcher = Dispatcher.instance
      dispatcher.handler = @app
      dispatcher.error_handler ||= method(:report)
      dispatcher.run(method(:announce))
      @served = true
    ensure
      dispatcher.handler = nil
    end

    def announce
      return if @quiet

      $stdout.puts "Fastr #{VERSION} on Ruby #{RUBY_VERSION}, #{Fastr.environment}, process #{Process.pid}",
                   "Listening on #{url} (Ctrl-C stops)"
    end

    def report(error)
      ErrorLog.write(error, nil)
    end

    def drain
      Thread.current.report_on_exception = false # how serving ended is told by `run`
      await_answers
      Dispatcher.instance.stop
      cut unless @serving.join(CUT_TIMEOUT)
    end

    def await_answers
      Completion.await { |sink| @server.stop(sink, @shutdown_timeout) }
    rescue TimeoutError
      warn "fastr: requests were still in flight after #{@shutdown_timeout} s; they are cut" unless @quiet
    end

    # Something never waits and never ends: its thread is ended, and the process where that does not help.
    def cut
      warn "fastr: the dispatcher is held at #{@serving.backtrace&.first}; it is cut" unless @quiet
      @serving.kill
      exit!(1) unless @serving.join(CUT_TIMEOUT)
    end

    # The first signal drains, the second ends the process at once.
    def trap_signals
      SIGNALS.to_h { |name| [name, trap(name) { signalled(name) }] }
    end

    def signalled(name)
      @signals += 1
      @signals == 1 ? stop : exit!(128 + Signal.list.fetch(name))
    end

    def restore_signals(previous)
      previous.each { |name, handler| trap(name, handler || "DEFAULT") }
    end

    def default_host
      ENV["BINDING"] || ENV["HOST"] || (Fastr.development? || Fastr.test? ? "127.0.0.1" : "0.0.0.0")
    end
  end

  class << self
    # Serves an application until INT or TERM.
    # @param app [Application, Class, #call]
    # @param environment [String, nil]
    # @param options [Hash] see {Runner#initialize}
    # @yieldparam runner [Runner] once it listens
    # @return [void]
    # @example
    #   Fastr.run(->(env) { [200, {}, ["Hello"]] }, port: 8080)
    def run(app, environment: nil, **options, &block)
      DatabaseFile.stop
      self.environment = environment if environment
      @runner = Runner.new(app, **options)
      @runner.run(&block)
    rescue BindError, ConfigurationError => error
      abort "fastr: #{error.message}"
    ensure
      @runner = nil
    end

    # @return [Boolean] whether {run} serves
    def running?
      !@runner.nil?
    end

    # Stops what {run} serves, as the first INT does.
    # @return [void]
    def stop
      @runner&.stop
    end
  end
end
