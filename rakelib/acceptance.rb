# frozen_string_literal: true

# Owns what acceptance scripts are given: the library on the load path, `fastr` in the PATH, and databases with the
# tables they ask. Which scripts there are is theirs to say; their folder is named by FASTR_ACCEPTANCE.
require_relative "native_build"

# Finds the scripts and makes their environment.
module Acceptance
  FOLDER = ENV.fetch("FASTR_ACCEPTANCE", File.expand_path("../shared/acceptance", NativeBuild::ROOT))
  # The others are run by name.
  DEFAULT = %w[01_fastr_app 02_async_record].freeze
  TABLES = <<~SQL
    CREATE TABLE users (id int primary key auto_increment, username varchar(40), age int null, created_at datetime null);
    INSERT INTO users (id, username, age, created_at) VALUES
      (1, 'ann', 31, '2010-06-08 04:12:06'), (2, 'bob', null, null), (3, 'cyd', 25, null), (4, 'dan', 44, null),
      (5, 'eve', 19, null), (6, 'fay', 52, null), (7, 'gus', 61, null);
    CREATE TABLE widgets (id int primary key auto_increment, name varchar(40));
  SQL

  module_function

  # @param names [Array<String>] scripts, without their ending
  # @return [Array<String>] those that are there; says which are not
  def scripts(names)
    paths = names.map { |name| File.join(FOLDER, "#{name}.rb") }
    there, missing = paths.partition { |path| File.exist?(path) }
    missing.each { |path| puts "no #{path}: skipped" }
    there
  end

  # @return [Hash{String => String}]
  def environment
    library = [File.join(NativeBuild::ROOT, "lib"), ENV.fetch("RUBYLIB", nil)].compact.join(":")
    { "PATH" => "#{NativeBuild::ROOT}/exe:#{ENV.fetch('PATH')}", "RUBYLIB" => library, **databases }
  end

  # Servers that end with rake.
  # @return [Hash{String => String}]
  def databases
    require_relative "../spec/support/servers"
    postgresql, mysql = Support::Servers.all
    [postgresql, mysql].each { |server| server.create("accept") }
    mysql.sql(TABLES, database: "accept")
    { "ACCEPT_MYSQL" => mysql.url("accept"), "ACCEPT_PG" => postgresql.url("accept") }
  end
end
