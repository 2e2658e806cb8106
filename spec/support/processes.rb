# frozen_string_literal: true

require "rbconfig"
require "socket"

module Support
  # Programs under test that need a process of their own.
  module Processes
    LIBRARY = File.expand_path("../../lib", __dir__)

    # Runs Ruby code in a fresh interpreter with the library on its load path.
    # @return [Array(String, Process::Status)] its output, stderr included
    def run_ruby(code, env: {})
      program = IO.popen(env, [RbConfig.ruby, "-I", LIBRARY, "-e", code], err: %i[child out])
      output = program.read
      program.close
      [output, Process.last_status]
    ensure
      # Closing waits: a program that hangs must not take the suite with it.
      Process.kill(:KILL, program.pid) unless program.nil? || program.closed?
    end

    # Starts a server process, yields once its port answers, ends the process whatever happens.
    def with_process(*command, port:, env: {}, chdir: Dir.pwd, within: 20)
      env = { "RUBYLIB" => LIBRARY }.merge(env)
      pid = Process.spawn(env, *command, chdir: chdir, out: File::NULL, err: File::NULL, pgroup: true)
      eventually(within: within) { answers?(port) }
      yield pid
    ensure
      end_process(pid) if pid
    end

    def free_port
      TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    end

    private

    def answers?(port)
      TCPSocket.open("127.0.0.1", port, &:close)
      true
    rescue SystemCallError
      false
    end

    def end_process(pid)
      Process.kill(:TERM, pid)
      eventually { Process.wait(pid, Process::WNOHANG) }
    rescue Errno::ESRCH, Errno::ECHILD
      nil
    rescue RuntimeError
      Process.kill(:KILL, pid)
      Process.wait(pid)
    end
  end
end
