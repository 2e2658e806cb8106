# frozen_string_literal: true

module Fastr
  module Test
    # An application for tests, as in 2010: it boots at once and sends each request to {#route} when that is set.
    # It owns this detour; everything else is the application's own.
    class Application < Fastr::Application
      # @return [Hash, nil] `{:ok => {:controller => "users", :action => :show}}`
      attr_accessor :route

      # Evaluates only app/config/init.rb, as the test helper of 2010 does.
      # @param path [String] the application's folder
      # @return [void]
      def self.load_init(path)
        Dir.chdir(path) { AppFile.load_init }
      end

      # Booting is over when `new` returns; 2010's helper calls it again.
      # @return [self]
      def boot
        return self unless @booting

        super
      end

      private

      def route_request(request)
        chosen = route&.fetch(:ok, nil)
        return super if chosen.nil?

        name = chosen[:controller].to_s
        endpoint = EndpointTable.new(self).action(name, chosen[:action].to_s, fixed_route(name, chosen))
        endpoint ? endpoint.call(request, Params::NO_CAPTURES) : ErrorResponse.not_found(request, self)
      end

      def fixed_route(name, chosen)
        Route.new("/", fixed: chosen.merge(controller: name, action: chosen[:action].to_s))
      end
    end
  end
end
