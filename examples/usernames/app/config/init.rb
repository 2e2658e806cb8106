# frozen_string_literal: true

require "async_record"

AsyncRecord.connect(ENV.fetch("DATABASE_URL", "sqlite:#{app_path}/db/usernames.sqlite3"))
