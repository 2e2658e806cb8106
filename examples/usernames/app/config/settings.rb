# frozen_string_literal: true

config.log_level = Fastr.development? ? Logger::INFO : Logger::WARN
