# frozen_string_literal: true

# Fastr: an async web framework whose reactor, HTTP server and database drivers are Rust.
# This file loads the reactor and the framework; the ORM is `require "async_record"`, EventMachine's names are
# `require "fastr/eventmachine"`.

require_relative "fastr/version"
require_relative "fastr/errors"
require_relative "fastr/reactor"
require_relative "fastr/reactor/process"
require_relative "fastr/fork"
require_relative "fastr/framework"
require_relative "fastr/headroom"
require_relative "fastr/jit"
require_relative "fastr/runner"

Fastr::TopLevel.install(start: true) if Fastr::TopLevel.wanted_by?(caller_locations)
