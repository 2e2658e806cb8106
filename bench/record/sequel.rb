# frozen_string_literal: true

require_relative "harness"
require "sequel"

bench = Harness.new
url = bench.url.sub(/\Asqlite:/, "sqlite://").sub(/\Amysql:/, "mysql2:")
DB = Sequel.connect(url, max_connections: Harness::CONCURRENT)

class Post < Sequel::Model; end

class Note < Sequel::Model
  unrestrict_primary_key
end

number = Note.count
bench.measure("find") { Post.with_pk!(bench.key) }
unless bench.kind == "sqlite"
  bench.measure("finds20") { Array.new(Harness::CONCURRENT) { Thread.new { Post.with_pk!(bench.key) } }.each(&:join) }
end
bench.measure("objects1000") { Post.order(:id).limit(Harness::ROW_LIMIT).each(&:title) }
bench.measure("json1000") { JSON.generate(DB[:posts].order(:id).limit(Harness::ROW_LIMIT).all) }
bench.measure("insert") { Note.create(id: number += 1, text: "a note") }
bench.measure("update") { Post.with_pk!(bench.key).update(views: number += 1) }
unless bench.kind == "sqlite"
  nap = bench.kind == "mysql" ? "select sleep(0.2)" : "select pg_sleep(0.2)"
  bench.measure("sleeps", calls: 1, warm: 0) do
    DB.disconnect
    Array.new(40) { Thread.new { DB.fetch(nap).all } }.each(&:join)
  end
end
bench.report
