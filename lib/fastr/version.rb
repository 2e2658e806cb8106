# frozen_string_literal: true

# Owns the version of the gem and nothing else, so that the gemspec can read it without loading the framework.
module Fastr
  VERSION = "0.1.0"
end
