# frozen_string_literal: true

module Fastr
  module Test
    # `get("/path")` and its relatives for a test class or RSpec group. It owns only which application they go to: the
    # one given to {#use_application}, or `Fastr.application`.
    module Requests
      %i[get head post put patch delete].each do |verb|
        define_method(verb) { |path, **options| client.public_send(verb, path, **options) }
      end

      # Chooses the application of the requests that follow; a folder is booted once per process.
      # @param app [#call, String] a Rack application, or an application's folder
      # @return [void]
      def use_application(app)
        @fastr_client = Client.new(app.is_a?(String) ? Requests.booted(app) : app)
      end

      # @return [Client]
      def client
        @fastr_client ||= # rubocop:disable Naming/MemoizedInstanceVariableName -- the test class is the user's
          Client.new(Fastr.application)
      end

      # @return [Application] the one of this folder
      # @api private
      def self.booted(folder)
        @booted ||= {}
        @booted[folder] ||= Fastr::Application.new(folder)
      end
    end
  end
end
