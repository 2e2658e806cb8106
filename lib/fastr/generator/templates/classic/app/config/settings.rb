config.log_level = Logger::DEBUG
config.cache_templates = true
