# frozen_string_literal: true

module Fastr
  # Loads the classes of an application: app/controllers, app/models and lib. Where every file defines the constant its
  # name promises, Zeitwerk does it (autoloading, so the order does not matter); otherwise the files are loaded one
  # after another as in 2010: controllers, models, lib. It owns that choice and taking classes back for a reload.
  class Loader
    FOLDERS = %w[app/controllers app/models].freeze
    private_constant :FOLDERS

    # One Zeitwerk loader per application folder and process.
    @zeitwerks = {}

    class << self
      # @return [Hash{String => Zeitwerk::Loader}]
      attr_reader :zeitwerks
    end

    # @param root [String] the application's folder
    # @param reloading [Boolean] whether classes may be taken back later
    def initialize(root, reloading:)
      @root = root
      @reloading = reloading
      @constants = {}
    end

    # @return [Array<String>] every file this loader is responsible for
    def files
      autoloaded_files + lib_files
    end

    # Loads everything; what was loaded before is taken back first.
    # @return [void]
    def load
      @constants.keys.each { |file| forget(file) } # rubocop:disable Style/HashEachMethods -- it deletes
      zeitwerk = fresh_zeitwerk if autoload?
      if zeitwerk
        lib_files.each { |file| load_file(file) }
        eager_load(zeitwerk)
      else
        (files_in_order + lib_files).each { |file| load_file(file) }
      end
    end

    # Takes back and loads again.
    # @param changed [Array<String>] the files that changed, appeared or vanished
    # @return [void]
    def reload(changed)
      zeitwerk = Loader.zeitwerks[@root]
      changed &= files + @constants.keys
      own = zeitwerk ? changed - autoloaded_files : changed
      own.each { |file| forget(file) }
      guard { zeitwerk&.reload }
      (own & files).each { |file| load_file(file) }
      eager_load(zeitwerk) if zeitwerk
    end

    private

    def autoloaded_files
      FOLDERS.flat_map { |folder| Dir["#{@root}/#{folder}/**/*.rb"] }
    end

    # As in 2010; what lies deeper comes after the rest of its folder.
    def files_in_order
      FOLDERS.flat_map do |folder|
        Dir["#{@root}/#{folder}/*.rb"] | Dir["#{@root}/#{folder}/**/*.rb"]
      end
    end

    def lib_files
      Dir["#{@root}/lib/*.rb"]
    end

    def autoload?
      return true if Loader.zeitwerks.key?(@root)

      folders = FOLDERS.map { |folder| "#{@root}/#{folder}" }.select { |folder| File.directory?(folder) }
      folders.any? && folders.all? { |folder| Dir["#{folder}/**/*.rb"].all? { |file| keeps_promise?(file, folder) } }
    end

    # Whether the file defines the constant its path names, and nobody else has.
    def keeps_promise?(file, folder)
      names = Inflector.camelize(file.delete_prefix("#{folder}/").delete_suffix(".rb")).split("::")
      return false if names.size == 1 && Object.const_defined?(names.first, false)

      File.read(file, encoding: Encoding::UTF_8).scrub.match?(/(?:^|;)\s*(?:class|module)\s+(?:\w+::)*#{names.last}\b/)
    end

    def fresh_zeitwerk
      known = Loader.zeitwerks[@root]
      return new_zeitwerk if known.nil?

      guard { known.reload if known.reloading_enabled? }
      known
    end

    def new_zeitwerk
      require "zeitwerk"
      zeitwerk = Zeitwerk::Loader.new
      zeitwerk.tag = "fastr"
      FOLDERS.each { |folder| zeitwerk.push_dir("#{@root}/#{folder}") if File.directory?("#{@root}/#{folder}") }
      zeitwerk.enable_reloading if @reloading
      zeitwerk.setup
      Loader.zeitwerks[@root] = zeitwerk
    end

    def eager_load(zeitwerk)
      guard { zeitwerk.eager_load }
    end

    # Remembers which constants the file adds, so that a reload can take them back.
    def load_file(file)
      before = Object.constants
      guard(file) { Kernel.load(file) }
    ensure
      @constants[file] = (Object.constants - before) | @constants.fetch(file, []) if before
    end

    def forget(file)
      @constants.delete(file)&.each do |name|
        Object.__send__(:remove_const, name) if Object.const_defined?(name, false)
      end
    end

    def guard(file = nil)
      yield
    rescue *BootFailure::ERRORS => e
      raise BootFailure.of(e, file)
    end
  end
  private_constant :Loader
end
