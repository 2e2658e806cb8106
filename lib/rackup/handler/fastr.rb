# frozen_string_literal: true

require "rackup/handler"
require "fastr/rack_handler"

module Rackup
  # Where rackup 2 looks for `-s fastr`.
  module Handler
    Fastr = ::Fastr::RackHandler
    register(:fastr, Fastr)
  end
end
