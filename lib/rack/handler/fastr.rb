# frozen_string_literal: true

require "rack"
require "rack/handler"
require "fastr/rack_handler"

module Rack
  # Where Rack 2 looks for `-s fastr`.
  module Handler
    Fastr = ::Fastr::RackHandler
    register("fastr", "Rack::Handler::Fastr")
  end
end
