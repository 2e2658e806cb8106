# frozen_string_literal: true

require_relative "harness"
require "active_record"

bench = Harness.new
url = bench.url.sub(/\Asqlite:/, "sqlite3:").sub(/\Amysql:/, "mysql2:")
ActiveRecord::Base.establish_connection(url: url, pool: Harness::CONCURRENT)

class Post < ActiveRecord::Base; end
class Note < ActiveRecord::Base; end

def threads(count, &work)
  Array.new(count) { Thread.new { ActiveRecord::Base.connection_pool.with_connection(&work) } }.each(&:join)
end

number = Note.count
bench.measure("find") { Post.find(bench.key) }
bench.measure("finds20") { threads(Harness::CONCURRENT) { Post.find(bench.key) } } unless bench.kind == "sqlite"
bench.measure("objects1000") { Post.order(:id).limit(Harness::ROW_LIMIT).each(&:title) }
bench.measure("json1000") { Post.order(:id).limit(Harness::ROW_LIMIT).to_json }
bench.measure("insert") { Note.create!(id: number += 1, text: "a note") }
bench.measure("update") { Post.find(bench.key).update!(views: number += 1) }
unless bench.kind == "sqlite"
  nap = bench.kind == "mysql" ? "select sleep(0.2)" : "select pg_sleep(0.2)"
  bench.measure("sleeps", calls: 1, warm: 0) do
    work = Queue.new
    40.times { work << nap }
    work.close
    ActiveRecord::Base.connection_pool.disconnect!
    threads(Harness::CONCURRENT) do |connection|
      while (sql = work.pop)
        connection.execute(sql)
      end
    end
  end
end
bench.report
