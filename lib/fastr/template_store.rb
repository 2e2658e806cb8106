# frozen_string_literal: true

module Fastr
  # The templates of one application, found below app/views and kept compiled. It owns the look-up (which paths are
  # tried), the cache and when a changed file is compiled again; it refuses paths that leave the folder.
  class TemplateStore
    Entry = Struct.new(:path, :template, :mtime)
    private_constant :Entry

    # @param root [String] the folder of the views
    # @param reload [Boolean] whether a cached template is checked for changes
    def initialize(root, reload: false)
      @root = root
      @reload = reload
      @entries = {}
    end

    # @param name [String] a path below the folder, with or without extension; or only the file's name, for a
    #   template of the controller's own folder
    # @param scope [Controller] `self` in the template
    # @param locals [Hash{Symbol => Object}]
    # @param engine [Symbol, nil] only files of this engine
    # @param cache [Boolean] whether to keep the compiled template
    # @return [String]
    # @raise [TemplateMissing] with the paths tried
    def render(name, scope, locals = {}, engine: nil, cache: true, &content)
      key = [name, engine, scope.class]
      entry = @entries[key] if cache
      entry = @entries[key] = load(name, scope, engine) if entry.nil? || stale?(entry)
      return entry.template.render(scope, locals, &content) if entry.template

      Template.custom(File.extname(entry.path).delete_prefix(".")).result(entry.path, scope.fastr_binding, cache)
    end

    # Forgets every compiled template.
    # @return [void]
    def clear
      @entries.clear
    end

    private

    def stale?(entry)
      @reload && File.mtime(entry.path) != entry.mtime
    rescue Errno::ENOENT
      true
    end

    def load(name, scope, engine)
      path = find(name.to_s, scope, engine)
      extension = File.extname(path).delete_prefix(".")
      template = Template.compile(path) unless Template.custom(extension)
      Entry.new(path, template, File.mtime(path))
    end

    def find(name, scope, engine)
      raise TemplateMissing, "#{name.inspect} leaves app/views" unless inside?(name)

      tried = candidates(name, scope, engine)
      found = tried.find { |path| File.file?("#{@root}/#{path}") }
      return "#{@root}/#{found}" if found

      paths = tried.map { |path| "app/views/#{path}" }.join(", ")
      raise TemplateMissing, "no template #{name.inspect}; tried #{paths}.#{Suggestion.for(name, known)}"
    end

    def inside?(name)
      !name.empty? && !name.start_with?("/") && !name.include?("\0") && name.split("/").none?("..")
    end

    def candidates(name, scope, engine)
      folder = scope.respond_to?(:fastr_view_folder) ? scope.fastr_view_folder : nil
      names = [name]
      names << "#{folder}/#{name}" unless folder.to_s.empty? || name.start_with?("#{folder}/")
      names.flat_map { |base| variants(base, engine) }.uniq
    end

    def variants(base, engine)
      return ["#{base}.#{engine}", "#{base}.html.#{engine}", base] if engine
      return [base] if Template.engine?(File.extname(base).delete_prefix(".")) && File.extname(base) != ""

      Template.extensions.flat_map { |extension| ["#{base}.html.#{extension}", "#{base}.#{extension}"] }
    end

    # Names with and without their extensions.
    def known
      paths = Dir.glob("**/*", base: @root).select { |path| File.file?("#{@root}/#{path}") }
      paths | paths.map { |path| path.sub(%r{\.[^/]*\z}, "") }
    end
  end
  private_constant :TemplateStore
end
