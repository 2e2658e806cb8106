# frozen_string_literal: true

# Where the database is: DATABASE_URL, or a file beside the application.
AsyncRecord.connect(ENV["DATABASE_URL"] || "sqlite:#{app_path}/db/usernames.sqlite3")
