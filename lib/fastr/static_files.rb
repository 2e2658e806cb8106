# frozen_string_literal: true

module Fastr
  # Files of public/ for requests that came through a Rack server; on the native path Rust serves them. It owns the
  # check that a path stays beneath the folder; ranges, times and HEAD are Rack::Files' work.
  class StaticFiles
    # @param root [String]
    def initialize(root)
      @root = File.directory?(root) ? File.realpath(root) : nil
    end

    # @param env [Hash]
    # @return [Array, nil] the Rack response; nil when there is no such file
    def call(env)
      return unless @root && %w[GET HEAD].include?(env["REQUEST_METHOD"] || "GET")

      path = find(env["PATH_INFO"].to_s)
      path && serve(env, path)
    end

    private

    def find(path_info)
      return if path_info.empty? || path_info.end_with?("/")

      relative = unescape(path_info)
      return if relative.nil? || relative.split("/").any? { |part| part.start_with?(".") && part != ".well-known" }

      path = File.join(@root, relative)
      path if File.file?(path) && File.realpath(path).start_with?("#{@root}/")
    rescue SystemCallError, ArgumentError
      nil
    end

    def unescape(path_info)
      return path_info unless path_info.include?("%")

      text = path_info.gsub(/%(\h\h)/) { Regexp.last_match(1).hex.chr }.force_encoding(Encoding::UTF_8)
      text if text.valid_encoding? && !text.include?("\0")
    end

    def serve(env, path)
      require "rack"
      @files ||= Rack::Files.new(@root)
      request = Rack::Request.new({ "REQUEST_METHOD" => "GET" }.merge(env))
      @files.serving(request, path)
    end
  end
  private_constant :StaticFiles
end
