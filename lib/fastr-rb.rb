# frozen_string_literal: true

# What Bundler requires for `gem "fastr-rb"`; the library itself is `require "fastr"`.
require "fastr"
