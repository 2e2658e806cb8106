# frozen_string_literal: true

require_relative "harness"
require "bigdecimal"
require "uri"

# The bare driver with prepared statements: what Ruby can do at most with each of them.
class BareDriver
  FIND = "select id, title, body, views, created_at from posts where id = "
  LIST = "select id, title, body, views, created_at from posts order by id limit 1000"

  def initialize(kind, url)
    @uri = URI(url) unless kind == "sqlite"
    public_send(kind, url)
  end

  attr_reader :find, :list, :insert, :update

  def sqlite(url)
    require "sqlite3"
    database = SQLite3::Database.new(url.delete_prefix("sqlite:"), results_as_hash: true)
    prepared = ->(sql) { database.prepare(sql).then { |statement| ->(*binds) { statement.execute(*binds).to_a } } }
    statements(prepared, %w[? ?])
  end

  def postgresql(url)
    require "pg"
    connection = PG.connect(url)
    connection.type_map_for_results = PG::BasicTypeMapForResults.new(connection)
    names = 0
    prepared = lambda do |sql|
      connection.prepare(name = "s#{names += 1}", sql)
      ->(*binds) { connection.exec_prepared(name, binds).to_a }
    end
    statements(prepared, %w[$1 $2])
  end

  def mysql(_url)
    require "mysql2"
    client = Mysql2::Client.new(host: @uri.host, port: @uri.port, username: @uri.user, database: @uri.path[1..])
    prepared = ->(sql) { client.prepare(sql).then { |statement| ->(*binds) { statement.execute(*binds).to_a } } }
    statements(prepared, %w[? ?])
  end

  def statements(prepared, places)
    @find = prepared.call(FIND + places.first)
    @list = prepared.call(LIST)
    @insert = prepared.call("insert into notes (id, text) values (#{places.join(', ')})")
    @update = prepared.call("update posts set views = #{places.first} where id = #{places.last}")
  end
end

bench = Harness.new
driver = BareDriver.new(bench.kind, bench.url)
number = (Time.now.to_f * 1_000_000).to_i # beyond what an earlier round inserted
bench.measure("find") { driver.find.call(bench.key) }
bench.measure("objects1000") { driver.list.call.each { |row| row["title"] } }
bench.measure("json1000") { JSON.generate(driver.list.call) }
bench.measure("insert") { driver.insert.call(number += 1, "a note") }
bench.measure("update") { driver.update.call(rand(1000), bench.key) }
bench.report
