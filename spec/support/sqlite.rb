# frozen_string_literal: true

require "tmpdir"

module Support
  # Real SQLite databases, one file per example, and reactors that end.
  module SQLite
    # @return [AsyncRecord::Database]
    def sqlite_database(**options)
      path = File.join(sqlite_folder, "#{sqlite_databases.size}.db")
      sqlite_databases << AsyncRecord::Database.new("sqlite:#{path}", **options)
      sqlite_databases.last
    end

    # A database without a file: one connection, much faster to make.
    def memory_database
      sqlite_databases << AsyncRecord::Database.new("sqlite::memory:")
      sqlite_databases.last
    end

    def sqlite_folder
      @sqlite_folder ||= Dir.mktmpdir("fastr-record")
    end

    # What is closed when the example ends.
    def sqlite_databases
      @sqlite_databases ||= []
    end

    # Runs a block inside the reactor until `Fastr::Reactor.stop`, as programs of 2010 do.
    def reactor(limit: 10, &body)
      Timeout.timeout(limit) { Fastr::Reactor.run(&body) }
    end

    # Runs a block in a fiber of the dispatcher and returns what it returns.
    def in_fiber(&block)
      AsyncRecord.async(&block).await
    end

    def close_sqlite
      sqlite_databases.each(&:close)
      FileUtils.rm_rf(@sqlite_folder) if @sqlite_folder
    end
  end
end

RSpec.configure do |config|
  config.include Support::SQLite
  config.after { close_sqlite }
end
