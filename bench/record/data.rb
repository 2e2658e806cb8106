# frozen_string_literal: true

require "tmpdir"

# Makes the database that all contenders read: 10,000 posts of five columns.
module RecordData
  ROWS = 10_000
  TYPES = { "sqlite" => %w[INTEGER DATETIME], "postgresql" => %w[bigint timestamptz],
            "mysql" => %w[BIGINT DATETIME(6)] }.freeze

  module_function

  # @return [String] the database's URL
  def prepare(kind)
    url = kind == "sqlite" ? "sqlite:#{File.join(Dir.mktmpdir('fastr-bench'), 'posts.db')}" : server(kind)
    $LOAD_PATH.unshift(File.expand_path("../../lib", __dir__))
    require "async_record"
    database = AsyncRecord::Database.new(url)
    fill(database, *TYPES.fetch(kind))
    database.close
    url
  end

  def server(kind)
    server = Support::Servers.public_send(kind)
    server.create("bench")
    server.url("bench")
  end

  def fill(database, key, time)
    database.query("create table posts (id #{key} primary key, title varchar(100) not null, body text not null, " \
                   "views integer not null, created_at #{time} not null)")
    database.query("create table notes (id #{key} primary key, text varchar(100) not null)")
    rows = (1..ROWS).map { |id| "(#{id}, 'title #{id}', '#{'body ' * 20}', #{id % 97}, '2026-01-31 12:34:56')" }
    rows.each_slice(500) { |slice| database.query("insert into posts values #{slice.join(', ')}") }
  end
end
