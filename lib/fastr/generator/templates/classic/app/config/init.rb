# Enable AsyncRecord support:
# you must add "require 'async_record'" to your config.ru file
#conn = AsyncRecord::Connection::MySQL.new(:host => "127.0.0.1", :port => 3306, :user => "root", :database => "database")
#conn.connect
#AsyncRecord::Base.set_connection(conn)
