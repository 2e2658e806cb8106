# frozen_string_literal: true

# Owns what both kinds of server have in common: where things lie in a server's folder, under which user it runs and how
# its commands are called. Only the standard library: the keeper runs it without gems. Refuses to start anything.

require "etc"
require "fileutils"
require "open3"

module Support
  module Servers
    # A server cannot be started or used; the message names the way out.
    class Error < StandardError; end

    # What one kind of server needs, filled in by {PostgreSQL} and {MariaDB}.
    class Recipe
      USER = "fastr"
      # Users with a password have this one.
      PASSWORD = "fastr secret/é"
      DATABASE = "fastr"
      MISSING = "%<command>s is not installed; run `bin/setup test` (on Debian), or put it into the PATH"
      private_constant :MISSING

      # @return [String] the server's folder: data, socket, log, certificates
      attr_reader :folder
      # @return [Integer]
      attr_reader :port

      def initialize(folder, port)
        @folder = folder
        @port = port
      end

      # The first program of that name in the folders given or in the PATH.
      # @raise [Error] when there is none
      def self.program(name, *folders)
        folders += ENV.fetch("PATH", "").split(":") + %w[/usr/sbin /usr/local/sbin]
        found = folders.map { |folder| File.join(folder, name) }.find { |file| File.executable?(file) }
        found || raise(Error, format(MISSING, command: name))
      end

      def data = File.join(folder, "data")
      def log = File.join(folder, "log")
      def certificates = File.join(folder, "tls")

      # The server's own command line client.
      # @raise [Error] with what the client said
      # @return [String] its output
      def client(sql, database: DATABASE)
        output, error, status = Open3.capture3(*client_command(database), stdin_data: sql, binmode: true)
        output.force_encoding(Encoding::UTF_8)
        raise Error, "#{error.strip}\nin: #{sql[0, 500]}" unless status.success?

        output
      end

      # What a program is run as: database servers refuse root.
      # @return [Array<String>] to be put before a command
      def as_user
        become = "setpriv"
        return [] unless system(become, "--version", out: File::NULL, err: File::NULL)

        # Should the keeper be killed, the kernel ends what it started.
        dies = [become, "--pdeathsig", "KILL"]
        return dies unless Process.uid.zero?

        dies + ["--reuid", owner.uid.to_s, "--regid", owner.gid.to_s, "--clear-groups"]
      end

      # @return [Etc::Passwd] who owns the data
      def owner
        @owner ||= begin
          name = [system_user, "nobody"].find { |user| Etc.getpwnam(user) rescue nil } # rubocop:disable Style/RescueModifier
          Process.uid.zero? ? Etc.getpwnam(name) : Etc.getpwuid
        end
      end

      # Gives files to the server's user.
      def hand_over(*paths)
        FileUtils.chown_R(owner.uid, owner.gid, paths) if Process.uid.zero?
      end
    end
  end
end
