# frozen_string_literal: true

# Where rackup 2 looks for `-s fastr`.
require "rackup/handler"
require "fastr/rack_handler"

module Rackup
  module Handler
    Fastr = ::Fastr::RackHandler
    register(:fastr, Fastr)
  end
end
