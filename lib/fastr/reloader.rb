# frozen_string_literal: true

module Fastr
  # Notices changed files of an application in development, before a request is served. It owns the comparison of
  # times and sizes; what a change means is the application's decision. No extra thread, no extra gem.
  class Reloader
    # Seconds within which files are not looked at again: one look for all requests of a batch.
    PAUSE = 0.005

    # @param app [Application]
    def initialize(app)
      @app = app
      @checked_at = 0.0
      @seen = snapshot
    end

    # Looks at the files, and has the application reload what changed.
    # @return [void]
    def check
      now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      return if now - @checked_at < PAUSE

      current = snapshot
      changed = (current.to_a - @seen.to_a).map(&:first) | (@seen.keys - current.keys)
      @seen = current
      @app.files_changed(changed) unless changed.empty?
      @checked_at = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    private

    def snapshot
      @app.watched_files.each_with_object({}) do |file, found|
        stat = File.stat(file)
        found[file] = [stat.mtime, stat.size]
      rescue SystemCallError
        next
      end
    end
  end
  private_constant :Reloader
end
