# frozen_string_literal: true

# The light peer: a bare Rack lambda with Sequel on the same SQLite database.
require "json"
require "sequel"

DB = Sequel.connect("sqlite://#{ENV.fetch('BENCH_SQLITE')}", max_connections: 5, readonly: true)
USERNAMES = DB[:users].order(:id).limit(5).select(:username)

run(lambda do |env|
  rows = case env["PATH_INFO"]
         when "/users5" then USERNAMES.map(:username)
         when "/users.json" then USERNAMES.all
         else next [404, { "Content-Type" => "text/plain" }, ["not found"]]
         end
  body = JSON.generate(rows)
  [200, { "Content-Type" => "application/json", "Content-Length" => body.bytesize.to_s }, [body]]
end)
