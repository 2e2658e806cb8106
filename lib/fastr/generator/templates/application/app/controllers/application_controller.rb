# frozen_string_literal: true

# What all controllers share.
class ApplicationController < Fastr::Controller
end
