# frozen_string_literal: true

# Owns one running server: makes its data, starts it, kills and restarts it when told so, and ends it when whoever asked
# for it is gone, however that ended. It is a process of its own, because a process that was killed cleans nothing up.
#
#   ruby --disable-gems keeper.rb postgresql|mariadb|mysql|pgbouncer FOLDER [ARGUMENT]
#
# Its standard input is a pipe nobody writes to: its end, and another parent, mean that the owner is gone. Commands come
# over the socket FOLDER/keeper, one word a connection: see {Keeper#obey}. The folder is removed at the end.

require "fileutils"
require "socket"
require_relative "postgresql"
require_relative "mariadb"
require_relative "mysql"
require_relative "pgbouncer"

module Support
  module Servers
    # See the head of this file.
    class Keeper
      RECIPES = {
        "postgresql" => PostgreSQL, "mariadb" => MariaDB, "mysql" => MySQL, "pgbouncer" => PgBouncer
      }.freeze
      # Below the range that the system takes ports for outgoing connections from: a restarted server finds its own.
      PORTS = (17_000..31_999)
      # Seconds for a server to answer, and to end.
      START = 60
      STOP = 10
      private_constant :RECIPES, :PORTS, :START, :STOP

      def initialize(kind, folder, *more)
        @folder = folder
        @recipe = RECIPES.fetch(kind).new(folder, free_port, *more)
        @parent = Process.ppid
        @pid = nil
      end

      # Serves commands until the owner is gone.
      def run
        %w[INT TERM HUP].each { |signal| trap(signal) { exit } }
        FileUtils.mkdir_p(@folder)
        listener = UNIXServer.new(File.join(@folder, "keeper"))
        serve_next(listener) until orphaned?
      ensure
        stop
        remove
      end

      private

      def orphaned?
        Process.ppid != @parent
      end

      def serve_next(listener)
        ready, = IO.select([listener, $stdin], nil, nil, 1)
        return if ready.nil?

        exit if ready.include?($stdin)
        connection = listener.accept
        connection.puts(answer(connection.gets.to_s.strip))
      rescue Errno::EPIPE
        nil # whoever asked has left
      ensure
        connection&.close
      end

      def answer(word)
        obey(word)
        "ok #{@recipe.port}"
      rescue StandardError => e
        "error #{"#{e.message} (#{e.class})".dump}"
      end

      def obey(word)
        case word
        when "create" then create
        when "start" then start
        when "kill" then kill
        when "stop" then stop
        when "restart" then kill && start
        when "pause" then signal_all(:STOP)
        when "resume" then signal_all(:CONT)
        else raise ArgumentError, "unknown command #{word.inspect}: create, start, stop, kill, restart, pause, resume"
        end
      end

      def create
        @recipe.prepare { |*command| wait_for(spawn_as_user(*command), command.first) }
        start
        @recipe.set_up
      end

      # Tried again for a while: what a killed server left in the system takes a moment to go.
      def start
        return if @pid

        deadline = now + START
        @pid = spawn_as_user(*@recipe.command)
        until answers?
          if Process.wait(@pid, Process::WNOHANG)
            @pid = nil
            raise Error, "the server does not start:\n#{log_tail}" if now > deadline

            sleep 0.1
            @pid = spawn_as_user(*@recipe.command)
          end
          raise Error, "the server does not answer after #{START} s:\n#{log_tail}" if now > deadline

          sleep 0.02
        end
      end

      # PostgreSQL has a process for each connection; some end while they are looked for.
      def signal_all(signal)
        [@pid, *children].each do |pid|
          Process.kill(signal, pid)
        rescue Errno::ESRCH
          next
        end
      end

      def children
        Dir["/proc/[0-9]*/stat"].filter_map do |path|
          path[/\d+/].to_i if File.read(path)[/\) \S (\d+)/, 1].to_i == @pid
        rescue SystemCallError
          next
        end
      end

      # As by the kernel: no farewell, nothing written.
      def kill
        return true unless @pid

        signal_all(:CONT)
        Process.kill(:KILL, @pid)
        Process.wait(@pid)
        @pid = nil
        true
      end

      # In order, but without waiting for clients; by force when it takes too long.
      def stop
        return unless @pid

        signal_all(:CONT)
        Process.kill(@recipe.stop_signal, @pid)
        deadline = now + STOP
        until Process.wait(@pid, Process::WNOHANG)
          return kill if now > deadline

          sleep 0.01
        end
        @pid = nil
      end

      def answers?
        TCPSocket.new("127.0.0.1", @recipe.port).close
        @recipe.client("SELECT 1;", database: @recipe.system_database)
      rescue SystemCallError, Error
        false
      end

      # In a group of its own: Ctrl-C in a terminal is meant for the suite.
      def spawn_as_user(*command)
        Process.spawn(*@recipe.as_user, *command, in: File::NULL, out: [@recipe.log, "a"], err: %i[child out],
                                                  pgroup: true, chdir: @folder)
      end

      def wait_for(pid, name)
        _, status = Process.wait2(pid)
        raise Error, "#{name} failed:\n#{log_tail}" unless status.success?
      end

      def log_tail
        File.read(@recipe.log).lines.last(20).join
      rescue SystemCallError
        "(no log)"
      end

      def free_port
        loop do
          port = rand(PORTS)
          TCPServer.new("127.0.0.1", port).close
          return port
        rescue Errno::EADDRINUSE
          next
        end
      end

      # The server's processes may still be writing for a moment.
      def remove
        20.times do
          FileUtils.rm_rf(@folder)
          break unless File.exist?(@folder)

          sleep 0.1
        end
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end

Support::Servers::Keeper.new(*ARGV).run if $PROGRAM_NAME == __FILE__
