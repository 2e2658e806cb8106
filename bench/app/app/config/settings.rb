# frozen_string_literal: true

config.log_level = Logger::WARN
