# frozen_string_literal: true

require "tilt"

module Fastr
  # Which template engines there are: ERB with escaping (always), HAML and whatever else Tilt knows (when its gem is
  # there), and engines of the application's own. It owns that list and the options that make engines escape.
  #
  # An engine of one's own answers `result(path, binding, cache)`, as in 2010.
  module Template
    # Our own way to print a value: escaped, unless it is marked as finished HTML.
    ESCAPE = "::Fastr::SafeString.escape"

    # Options per engine; the others get none.
    OPTIONS = {
      "erb" => { escape: true, escapefunc: ESCAPE },
      "rhtml" => { escape: true, escapefunc: ESCAPE },
      "haml" => { escape_code: "#{ESCAPE}((%s))" },
      "slim" => { escape_code: "#{ESCAPE}((%s))" }
    }.freeze
    private_constant :ESCAPE, :OPTIONS

    # Extensions tried when a template is named without one.
    DEFAULT_EXTENSIONS = %w[erb haml slim].freeze
    private_constant :DEFAULT_EXTENSIONS

    @engines = {}

    class << self
      # Registers an engine of the application's own.
      # @param engine [#result] called with the template's full path, the controller's binding and whether to cache
      # @param extensions [Array<String>]
      # @return [void]
      def register_extensions(engine, extensions)
        unless engine.respond_to?(:result)
          raise ArgumentError, "#{engine} cannot be an engine: it has no method `result(path, binding, cache)`"
        end

        extensions.each { |extension| @engines[extension.to_s] = engine }
        nil
      end

      # @param extension [String]
      # @return [#result, nil] the application's own engine for it
      def custom(extension)
        @engines[extension]
      end

      # @param name [Symbol, String]
      # @return [Boolean] whether an engine of this name can be used
      def engine?(name)
        @engines.key?(name.to_s) || Tilt.registered?(name.to_s)
      end

      # @return [Array<String>] extensions tried for a name without one
      def extensions
        DEFAULT_EXTENSIONS | @engines.keys
      end

      # @param path [String] an existing file
      # @return [Tilt::Template]
      # @raise [TemplateMissing] when no engine takes the extension
      def compile(path)
        extension = File.extname(path).delete_prefix(".")
        engine(extension, path).new(path, 1, OPTIONS.fetch(extension, {}))
      end

      private

      def engine(extension, path)
        return erubi if %w[erb rhtml].include?(extension)

        Tilt[extension] || raise(TemplateMissing, "no template engine takes .#{extension} files (#{path})")
      rescue LoadError => e
        raise TemplateMissing, "#{path} needs a gem that is not there: #{e.message}"
      end

      def erubi
        require "tilt/erubi"
        Tilt::ErubiTemplate
      end
    end
  end
end
