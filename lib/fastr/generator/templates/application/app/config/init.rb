# frozen_string_literal: true

# The database, once there is one:
#
#   require "async_record"
#   AsyncRecord.connect(ENV.fetch("DATABASE_URL", "sqlite:db/{{name}}.sqlite3"))
