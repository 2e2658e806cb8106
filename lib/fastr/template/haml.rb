# frozen_string_literal: true

# What programs of 2010 require for HAML templates: loads the engine early, so that a missing gem shows at boot.
require "haml"
require "tilt/haml"
