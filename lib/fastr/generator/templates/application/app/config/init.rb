# frozen_string_literal: true

# The database, once there is one:
#
#   require "async_record"
#   AsyncRecord.connect(ENV.fetch("DATABASE_URL", "sqlite:db/{{name}}.sqlite3")) # or postgres://…, mysql://…
#   AsyncRecord.check_pending! if Fastr.development? # says at the start that `fastr db migrate` has work to do
