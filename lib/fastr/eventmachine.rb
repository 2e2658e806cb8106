# frozen_string_literal: true

# Gives the reactor the names EventMachine and EM, and lets `require "eventmachine"` and its relatives find it.
# It adds the compat folder to the load path and refuses to do so over the real EventMachine.

require_relative "../fastr"

if defined?(EventMachine) && !EventMachine.equal?(Fastr::Reactor)
  raise LoadError, "the eventmachine gem is loaded already: fastr/eventmachine takes its place and must come first"
end

EventMachine = Fastr::Reactor unless defined?(EventMachine)
EM = EventMachine unless defined?(EM)

compat = File.expand_path("../compat", __dir__)
$LOAD_PATH.unshift(compat) unless $LOAD_PATH.include?(compat)
