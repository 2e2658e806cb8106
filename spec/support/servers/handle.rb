# frozen_string_literal: true

# Owns the suite's side of one server: starts its keeper on first use, passes commands to it, knows its URLs and
# asks it through its command line client.

require "rbconfig"
require "socket"
require "tmpdir"
require "uri"
require_relative "postgresql"
require_relative "mariadb"
require_relative "mysql"
require_relative "pgbouncer"

module Support
  module Servers
    # A server that runs.
    class Handle
      KEEPER = File.expand_path("keeper.rb", __dir__)
      CONTROL = File.expand_path("control.rb", __dir__)
      private_constant :KEEPER, :CONTROL

      # @return [String]
      attr_reader :folder
      # @return [Recipe]
      attr_reader :recipe

      # @param kind [String] as the keeper names it
      # @param recipe [Class]
      # @param more [Array] what the recipe takes beside folder and port
      def initialize(kind, recipe, *more)
        @folder = Dir.mktmpdir("fastr-#{kind}-")
        File.chmod(0o711, @folder) # the server runs as another user
        input, @lifeline = IO.pipe
        @keeper = Process.spawn(RbConfig.ruby, "--disable-gems", KEEPER, kind, @folder, *more.map(&:to_s), in: input,
                                                                                                           pgroup: true)
        input.close
        @owner = Process.pid
        @used = []
        @forgotten = []
        @recipe = recipe.new(@folder, tell("create"), *more)
      end

      def port = recipe.port

      # @param user [String] which of the recipe's users; those with a password have {Recipe::PASSWORD}
      # @return [String]
      def url(database = Recipe::DATABASE, user: Recipe::USER, password: nil)
        login = [user, password].compact.map { |part| URI.encode_www_form_component(part).gsub("+", "%20") }.join(":")
        "#{recipe.scheme}://#{login}@127.0.0.1:#{port}/#{database}"
      end

      # Ends the server as the kernel would, nothing said and nothing written.
      def kill = tell("kill")
      def start = tell("start")
      def stop = tell("stop")
      # Kills it and starts it again, on the same port and data.
      def restart = tell("restart")
      # Leaves connections open and answers nothing, until `resume`.
      def pause = tell("pause")
      def resume = tell("resume")

      # Asks the server by its own command line client, the witness that shares no code with ours.
      # @return [String] rows as lines
      def sql(text, database: Recipe::DATABASE)
        recipe.client(text, database: database)
      end

      # Makes a database, and drops those that were forgotten in the same breath: it takes some 50 ms.
      def create(name)
        recipe.client(recipe.renew(@forgotten, name), database: recipe.system_database)
        @forgotten = []
        @used << name
      end

      # @return [void]
      def forget_databases
        @forgotten.concat(@used)
        @used.clear
      end

      # @return [String] a command that takes start, stop, kill, restart, pause, resume as its last word
      def control
        "#{RbConfig.ruby} --disable-gems #{CONTROL} #{folder}"
      end

      # Ends server and keeper and removes the folder. A forked child leaves them to its parent.
      def close
        return unless Process.pid == @owner

        @lifeline.close
        Process.wait(@keeper)
        FileUtils.rm_rf(@folder) # the keeper did it, unless somebody killed it
      end

      private

      def tell(word)
        socket = connect
        socket.puts(word)
        state, rest = socket.gets.to_s.split(" ", 2)
        raise Error, rest.to_s.strip.undump unless state == "ok"

        rest.to_i
      ensure
        socket&.close
      end

      def connect
        attempts = 0
        begin
          UNIXSocket.new(File.join(@folder, "keeper"))
        rescue Errno::ENOENT, Errno::ECONNREFUSED
          raise Error, "the keeper of #{@folder} does not answer" if (attempts += 1) > 1000

          sleep 0.01
          retry
        end
      end
    end
  end
end
