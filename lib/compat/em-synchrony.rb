# frozen_string_literal: true

require "fastr/eventmachine"
require "fastr/synchrony"
