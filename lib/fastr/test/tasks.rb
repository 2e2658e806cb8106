# frozen_string_literal: true

# `rake fastr:test` for the layout of 2010: runs test/**/test_*.rb.
require "rake/testtask"

Rake::TestTask.new("fastr:test") do |task|
  task.libs << "test" << "lib"
  task.test_files = FileList["test/**/test_*.rb"]
end
