# frozen_string_literal: true

require "optparse"

module Fastr
  # The options of `ruby app.rb`. It owns these few; `fastr server` has its own.
  module CommandLine
    # @param arguments [Array<String>] is left as it is
    # @return [Hash] options for `Fastr.run`
    def self.options(arguments)
      found = {}
      parser = OptionParser.new("Usage: ruby #{$PROGRAM_NAME} [options]") do |options|
        options.on("-p", "--port PORT", Integer, "the port to listen on") { |port| found[:port] = port }
        options.on("-a", "-o", "--address ADDRESS", "the address to listen on") { |host| found[:host] = host }
        options.on("-e", "--environment NAME", "development, production, test") { |name| found[:environment] = name }
      end
      parser.parse(arguments)
      found
    rescue OptionParser::ParseError => e
      warn("#{e.message}\n#{parser}")
      exit(1)
    end
  end
  private_constant :CommandLine
end
