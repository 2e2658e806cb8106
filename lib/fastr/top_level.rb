# frozen_string_literal: true

module Fastr
  # The words at the top level of a single-file application:
  #
  #   require "fastr"
  #
  #   get "/hello/:name" do |name|
  #     "Hello #{name}"
  #   end
  #
  # `ruby app.rb` starts the server when the file has been read; `fastr server app.rb` and `Fastr::Test` load the same
  # file. Only the program's main object gets the words, and only when the file that was started is the one that
  # requires "fastr"; any other file asks with `require "fastr/dsl"`. A method that the program itself defines under one
  # of these names wins. This module owns that, and the start at exit.
  module TopLevel
    (Words.public_instance_methods(false) - [:configure]).each do |word|
      define_method(word) do |*arguments, **options, &block|
        # A top-level method of the program itself is a private method of Object: it wins.
        if Object.private_method_defined?(word) || Object.method_defined?(word)
          super(*arguments, **options, &block)
        else
          TopLevel.used
          Fastr.application.public_send(word, *arguments, **options, &block)
        end
      end
    end
    private(*Words.public_instance_methods(false) - [:configure]) # rubocop:disable Style/AccessModifierDeclarations

    class << self
      # Gives the main object the words.
      # @param start [Boolean] whether to start the server when the program has ended without an error
      # @return [void]
      def install(start: false)
        TOPLEVEL_BINDING.receiver.extend(self)
        start_at_exit if start && !@at_exit
      end

      # @return [Boolean] whether the file that was started asked for the library
      # @api private
      def wanted_by?(locations)
        program = File.expand_path($PROGRAM_NAME)
        return false if File.basename(program) == "fastr" || !File.file?(program)

        frame = locations.find { |location| !library_frame?(location.path) }
        !frame.nil? && File.expand_path(frame.path) == program
      end

      # Remembers that the program said a word.
      # @return [void]
      # @api private
      def used
        @used = true
      end

      # @return [Array<Symbol>] the words
      # @api private
      def words
        private_instance_methods(false)
      end

      # @return [Boolean] whether a word was said
      # @api private
      def used?
        @used == true
      end

      private

      def library_frame?(path)
        path.start_with?("#{__dir__}/", "<internal") || path == "#{__dir__}.rb" ||
          path.end_with?("/kernel_require.rb", "/zeitwerk/kernel.rb", "/bundled_gems.rb")
      end

      def start
        Fastr.application.source_file = File.expand_path($PROGRAM_NAME)
        Fastr.run(Fastr.application, **CommandLine.options(ARGV))
      rescue Fastr::Error => e
        warn(e.message)
        exit!(1)
      end

      def start_at_exit
        @at_exit = true
        at_exit do
          failure = $! # rubocop:disable Style/SpecialGlobalVars -- the library `English` costs 2 ms at every start
          next unless @used && failure.nil? && !Fastr.running?

          start
        end
      end
    end
  end
end
