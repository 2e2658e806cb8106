# frozen_string_literal: true

require "stringio"

module Fastr
  # One file a client uploaded. Small ones are in memory, large ones in a temporary file that is removed with this
  # object. It owns that file; the name the client claims is only data and never becomes a path here.
  #
  # @example
  #   upload = params[:picture]
  #   upload.save_to("uploads/#{user.id}.png") if upload.content_type == "image/png"
  class Upload
    # @return [String] the form field's name
    attr_reader :name
    # @return [String] the client's name of the file, without any folder
    attr_reader :filename
    # @return [String] the type the client claims
    attr_reader :content_type

    # @param name [String] the form field's name
    # @param filename [String] the client's name of the file
    # @param content_type [String, nil] the type the client claims
    # @param content [String, nil] the bytes, when they are in memory
    # @param path [String, nil] the temporary file, when they are not
    def initialize(name:, filename:, content_type: nil, content: nil, path: nil)
      @name = name
      @filename = filename.tr("\\", "/").split("/").last.to_s.delete("\0")
      @content_type = content_type || "application/octet-stream"
      @content = content
      @path = path
      @pid = Process.pid
      ObjectSpace.define_finalizer(self, Upload.remover(path, @pid)) if path
    end

    # @return [Proc] the finalizer: it must not hold the upload itself
    # @api private
    def self.remover(path, owner)
      proc do
        File.unlink(path) if Process.pid == owner
      rescue SystemCallError # removed or moved by the application
        nil
      end
    end

    # @return [Integer] bytes
    def size
      @content ? @content.bytesize : File.size(@path)
    end

    # @return [String] the whole content, binary
    def read
      @content || File.binread(@path)
    end

    # @return [IO] the content for reading; the caller closes it
    def open
      @content ? StringIO.new(@content) : File.open(@path, "rb")
    end

    # @return [String, nil] the temporary file; nil when the content is in memory
    attr_reader :path

    # Copies the content to a file of yours.
    # @param target [String] the path to write
    # @return [String] the path written
    def save_to(target)
      @content ? File.binwrite(target, @content) : IO.copy_stream(@path, target)
      target
    end

    # @return [String]
    def inspect
      "#<Fastr::Upload #{@filename.inspect} #{@content_type} #{size} bytes>"
    end
  end
end
