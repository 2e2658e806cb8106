# frozen_string_literal: true

require "fastr"

module Fastr
  # Testing without a server: what `require "fastr/test"` brings. It owns the list of its parts.
  #
  # As in 2010: `include Fastr::Test::Controller` in a `FooControllerTest`, then `get(:action, :params => {…})` gives
  # the Rack response. Today: `include Fastr::Test::Requests`, then `get("/path")` gives a {Response}, whichever way
  # the action answers.
  module Test
    autoload :Application, "fastr/test/application"
    autoload :Client, "fastr/test/client"
    autoload :Controller, "fastr/test/controller"
    autoload :Logger, "fastr/test/logger"
    autoload :Requests, "fastr/test/requests"
    autoload :Response, "fastr/test/response"
  end
end

Fastr.default_environment = "test"
