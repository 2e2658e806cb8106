# frozen_string_literal: true

require "English"

# Owns running the tests of the Rust core. Like the specs, some measure time beside others who use the machine: what
# failed is run once more, alone and in the open. What is wrong fails twice; what does not compile, or crashed and so
# did not say how it ended, is not run again.
class CargoTests
  # @param environment [Hash{String => String}]
  # @param command [Array<String>] what runs them all
  def initialize(environment, command)
    @environment = environment
    @command = command
  end

  # @return [Boolean] whether all passed, at the latest when they were alone
  def run
    first = attempt
    return true if first.passed?
    return false unless first.told_all?

    puts "== once more, alone: #{first.failed.join(', ')}"
    second = attempt("--", "--exact", "--test-threads=1", *first.failed)
    second.passed? && (first.failed - second.succeeded).empty?
  end

  private

  # Shows what is printed while it is printed.
  def attempt(*more)
    run = Run.new
    IO.popen(@environment, [*@command, *more], err: %i[child out]) do |output|
      output.each_line do |line|
        puts line
        run.read(line)
      end
    end
    run.end($CHILD_STATUS)
  end

  # What one run said.
  class Run
    attr_reader :failed, :succeeded

    def initialize
      @failed = []
      @succeeded = []
      @binaries = @summaries = @failures = 0
    end

    def read(line)
      case line
      when /^test (\S+) \.\.\. ok$/ then @succeeded << $1
      when /^test (\S+) \.\.\. FAILED$/ then @failed << $1
      when /^ +(Running|Doc-tests) / then @binaries += 1
      when /^test result: .* (\d+) failed;/
        @summaries += 1
        @failures += $1.to_i
      end
    end

    # @return [self]
    def end(status)
      @status = status
      self
    end

    def passed?
      @status.success?
    end

    # Whether every program reached its end, and every failure has a name that can be asked for (a doc test has none).
    def told_all?
      @failures.positive? && @binaries == @summaries && @failures == @failed.size && @failed.all?(/\A[\w:]+\z/)
    end
  end
end
