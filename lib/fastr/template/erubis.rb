# frozen_string_literal: true

# What programs of 2010 require for eRuby templates. ERB is always there, through erubi and with escaping
# (`<%== %>` prints raw); this file loads the engine early, so that a missing gem shows at boot.
require "tilt/erubi"
