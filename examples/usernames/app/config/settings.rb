# frozen_string_literal: true

config.log_level = Fastr.production? ? :warn : :info
