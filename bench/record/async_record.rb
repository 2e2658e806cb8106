# frozen_string_literal: true

require_relative "harness"
require "async_record"

bench = Harness.new
AsyncRecord.connect(bench.url, size: Harness::CONCURRENT)

class Post < AsyncRecord::Base; end
class Note < AsyncRecord::Base; end

# Everything runs in one fiber of the dispatcher, as an action does.
AsyncRecord.async do
  number = Note.count
  bench.measure("find") { Post.find(bench.key) }
  bench.measure("finds20") { AsyncRecord.gather(*Array.new(Harness::CONCURRENT) { Post.async.find(bench.key) }) }
  bench.measure("objects1000") { Post.order(:id).limit(Harness::ROW_LIMIT).each(&:title) }
  bench.measure("json1000") { Post.order(:id).limit(Harness::ROW_LIMIT).to_json_bytes }
  bench.measure("insert") { Note.create!(id: number += 1, text: "a note") }
  bench.measure("update") { Post.find(bench.key).update!(views: number += 1) }
  unless bench.kind == "sqlite"
    nap = bench.kind == "mysql" ? "select sleep(0.2)" : "select pg_sleep(0.2)"
    bench.measure("sleeps", calls: 1, warm: 0) { AsyncRecord.gather(*Array.new(40) { -> { Post.query(nap) } }) }
  end
end.await
bench.report
