# frozen_string_literal: true

# The Rack application of the benchmark, which lies beside this file where it runs, with big answers added.
require_relative "app"

FILLED = Hash.new { |bodies, path| bodies[path] = "x" * Integer(path.delete_prefix("/filled/")) }

# One mebibyte in a thousand chunks, without a content-length.
class ThousandChunks
  CHUNK = ("x" * 1024).freeze

  def each
    1024.times { yield CHUNK }
  end
end

run(lambda do |env|
  path = env["PATH_INFO"]
  if path.start_with?("/filled/")
    body = FILLED[path]
    [200, { CT => "text/plain", CL => body.bytesize.to_s }, [body]]
  elsif path == "/chunks"
    [200, { CT => "text/plain" }, ThousandChunks.new]
  else
    App.call(env)
  end
end)
