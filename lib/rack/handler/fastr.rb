# frozen_string_literal: true

# Where Rack 2 looks for `-s fastr`.
require "rack"
require "rack/handler"
require "fastr/rack_handler"

module Rack
  module Handler
    Fastr = ::Fastr::RackHandler
    register("fastr", "Rack::Handler::Fastr")
  end
end
