# frozen_string_literal: true

module Fastr
  # Child processes. The reactor waits for their output and their end; nothing blocks.
  module Reactor
    class << self
      # Runs a command and hands over what it wrote and how it ended. Its standard error is the program's own.
      # @param command [String] split like a shell would when it stands alone
      # @param arguments [Array<String>]
      # @yieldparam output [String] everything the command wrote to its standard output
      # @yieldparam status [Process::Status]
      # @return [Integer] the process id
      # @example
      #   Fastr::Reactor.system("ls /") { |output, status| puts output if status.success? }
      def system(command, *arguments, &block)
        words = arguments.empty? ? split(command) : [command, *arguments.grep(String)]
        block ||= arguments.find { |argument| argument.respond_to?(:call) }
        output, writer = IO.pipe
        pid = Process.spawn(*words, in: File::NULL, out: writer)
        writer.close
        next_tick { collect(output, pid, block) }
        pid
      end

      private

      def split(command)
        require "shellwords" # by this method only
        Shellwords.split(command)
      end

      def collect(output, pid, block)
        text = output.read
        status = Process::Status.wait(pid)
        block&.call(text, status)
      ensure
        output.close
      end
    end
  end
end
