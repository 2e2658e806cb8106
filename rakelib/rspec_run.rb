# frozen_string_literal: true

require "rbconfig"
require "tmpdir"

# Runs rspec. Some examples measure time, and on a machine that others use as well one can fail for their sake: what
# failed is run once more, alone and in the open. What is wrong fails twice.
module RSpecRun
  # What may differ between MariaDB, which `rake spec` asks everything, and MySQL.
  ON_MYSQL = %w[mysql_login types errors transactions migrations records queries writes known_traps table_schemas
                server_limits].map { |name| "spec/integration/async_record/#{name}_spec.rb" }.freeze

  # Examples end themselves after a minute or, under a hostile collector, five. One that is still running after so many
  # seconds holds the whole interpreter: nothing in it can say so any more.
  STUCK = 400

  module_function

  def once_more_alone(*arguments, env: {})
    Dir.mktmpdir("fastr-spec") do |folder|
      env = env.merge("FASTR_SPEC_STATUS" => "#{folder}/status", "FASTR_SPEC_RUNNING" => "#{folder}/running")
      return true if run(env, *arguments)

      puts "== once more, alone: what failed"
      run(env, "--only-failures", *arguments)
    end
  end

  # @return [Boolean] whether all passed
  def run(env, *arguments)
    pid = Process.spawn(env, RbConfig.ruby, "-S", "rspec", *arguments)
    waiting = Process.detach(pid)
    until waiting.join(1)
      next unless stuck?(env["FASTR_SPEC_RUNNING"])

      warn "== stuck, ended: #{File.read(env["FASTR_SPEC_RUNNING"])}"
      show_threads(pid)
      Process.kill(:KILL, pid)
    end
    waiting.value.success? || false
  end

  def stuck?(file)
    Time.now - File.mtime(file) > STUCK
  rescue Errno::ENOENT
    false
  end

  # Where each thread stands, for those who have gdb.
  def show_threads(pid)
    system("gdb", "-p", pid.to_s, "-batch", "-ex", "thread apply all bt 12", in: File::NULL, err: File::NULL)
  end
end
