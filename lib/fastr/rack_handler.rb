# frozen_string_literal: true

require_relative "../fastr"

module Fastr
  # What `rackup -s fastr` and `rails server -u fastr` call. Both kinds of handler, Rack 2's and rackup's, are this
  # module under another name.
  module RackHandler
    # Options of `rackup` and `rails server` that name what we call otherwise.
    NAMES = { Host: :host, Port: :port, environment: :environment, Quiet: :quiet }.freeze
    private_constant :NAMES

    class << self
      # Serves a Rack application until INT or TERM.
      # @param app [#call]
      # @param options [Hash] `:Host`, `:Port` and the rest of what Rack hands over, by Symbol or String
      # @yieldparam server [Runner] before the first request, so that the caller can stop it
      # @return [void]
      def run(app, **options, &block)
        known = options.transform_keys(&:to_sym).slice(*NAMES.keys).transform_keys(NAMES).compact
        known[:port] = Integer(known[:port], 10) if known[:port].is_a?(String)
        Fastr.run(app, **known, &block)
      end

      # @return [Hash{String => String}] what `rackup -h` prints
      def valid_options
        {
          "Host=HOST" => "address to listen on (default: 127.0.0.1 in development)",
          "Port=PORT" => "port to listen on (default: 3000)",
          "Quiet" => "print nothing at the start"
        }
      end
    end
  end
end
