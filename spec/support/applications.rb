# frozen_string_literal: true

require "fileutils"
require "tmpdir"
require "fastr/test"

module Support
  # Applications made of blocks or of files in a temporary folder, and the ways to ask them.
  module Applications
    # An application of blocks and a client for it.
    # @return [Fastr::Test::Client]
    def client_of(app = nil, &block)
      Fastr::Test::Client.new(app || Fastr.app(&block))
    end

    # A folder with these files, relative path => content; gone after the example.
    # @return [String] its path
    def folder(files)
      root = File.realpath(Dir.mktmpdir("fastr-spec-"))
      folders << root
      write(root, files)
      root
    end

    def write(root, files)
      files.each do |path, content|
        FileUtils.mkdir_p(File.dirname("#{root}/#{path}"))
        File.write("#{root}/#{path}", content)
      end
    end

    # Runs the block with the environment's name set.
    def in_environment(name)
      before = Fastr.environment
      Fastr.environment = name
      yield
    ensure
      Fastr.environment = before
    end

    # What was logged meanwhile.
    # @return [String]
    def logged
      before = Fastr::Log.device
      Fastr::Log.device = io = StringIO.new
      yield
      io.string
    ensure
      Fastr::Log.device = before
    end

    def folders
      @folders ||= []
    end

    # Serves a Fastr application or any Rack application natively; returns the port.
    def serve_app(app)
      host = Fastr::RackHost.wrap(app)
      dispatcher = Fastr::Dispatcher.instance
      dispatcher.ensure_running
      dispatcher.handler = host
      @app_server = Fastr::Server.listen({ "port" => 0 }, host.route_table)
      @app_server.port
    end

    def self.included(base)
      base.around do |example|
        Fastr::Log.device = StringIO.new
        example.run
      ensure
        Fastr::Log.device = $stdout
        AsyncRecord.log = nil # an application in development sets it
        folders.each { |folder| FileUtils.rm_rf(folder) }
        stop_app_server
      end
    end

    def stop_app_server
      return unless @app_server

      Fastr::Completion.await { |sink| @app_server.stop(sink, 0.2) }
    rescue Fastr::TimeoutError
      nil
    ensure
      Fastr::Dispatcher.instance.handler = Support::Dispatching::Nobody
    end
  end
end

RSpec.configure do |config|
  config.before(:suite) { Fastr.environment = "test" }
  config.include Support::Applications, file_path: %r{spec/(unit|integration)/}
end
