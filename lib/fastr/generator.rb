# frozen_string_literal: true

require "fileutils"

module Fastr
  # Makes files from templates: whole applications and controllers. It owns names, what is written and what is said; it
  # never overwrites anything. The texts are in generator/templates, with `{{name}}` and `{{class}}` for the names.
  class Generator
    TEMPLATES = File.expand_path("generator/templates", __dir__)
    # A name is a path of words: users, user_admin, admin/users.
    NAME = %r{\A[A-Za-z][A-Za-z0-9_]*(?:/[A-Za-z][A-Za-z0-9_]*)*\z}
    CLASSIC_FOLDERS = %w[app/config app/controllers app/views app/models lib test test/unit public
                         custom/plugins].freeze
    FOLDERS = %w[app/models lib db/migrate].freeze
    private_constant :TEMPLATES, :NAME, :CLASSIC_FOLDERS, :FOLDERS

    # @param out [#puts] where progress is told
    # @param root [String] the folder to work in
    def initialize(out: $stdout, root: Dir.pwd)
      @out = out
      @root = root
    end

    # Makes an application in the layout of 2010.
    # @param name [String] the folder
    # @return [void]
    def init(name)
      return @out.puts("directory already exists") if File.exist?(path(name))

      CLASSIC_FOLDERS.each { |folder| FileUtils.mkdir_p(path("#{name}/#{folder}")) }
      copy("classic", name, names(name), quiet: true)
      @out.puts("#{name} initialized!")
    end

    # Makes an application as one would today.
    # @param name [String] the folder
    # @raise [ConfigurationError] when it exists
    # @return [void]
    def application(name)
      raise ConfigurationError, "#{name} exists already; choose another name" if File.exist?(path(name))

      FOLDERS.each do |folder|
        FileUtils.mkdir_p(path("#{name}/#{folder}"))
        FileUtils.touch(path("#{name}/#{folder}/.keep"))
      end
      copy("application", name, names(File.basename(name)))
      @out.puts("", "Next:", "  cd #{name}", "  bundle install", "  fastr server")
    end

    # Makes what `fastr generate` is asked for.
    # @param kind [String] "controller"
    # @param name [String]
    # @param actions [Array<String>]
    # @return [void]
    def generate(kind, name, actions = [])
      unless kind == "controller"
        raise ConfigurationError, "unknown generator: #{kind}.#{Suggestion.for(kind, %w[controller])} " \
                                  "There is: fastr generate controller NAME [ACTION ...]; for a table: " \
                                  "fastr db new create_posts title:string"
      end

      controller(name, actions)
    end

    private

    def controller(name, actions)
      check(name, actions)
      unless Dir.exist?(path("app"))
        raise ConfigurationError, "there is no application here, no folder app in #{@root}. Make one: fastr new NAME"
      end

      name = Inflector.underscore(name).delete_suffix("_controller")
      target = "app/controllers/#{name}_controller.rb"
      return @out.puts("Controller already exists.") if File.exist?(path(target))

      @out.puts("Creating controller: #{target}")
      write(target, controller_text(name, actions))
      actions.each { |action| view(name, action) }
      test(name)
      route(name, actions)
    end

    def check(name, actions)
      wrong = [name, *actions].find { |word| !NAME.match?(word) }
      return if wrong.nil?

      raise ConfigurationError, "#{wrong.inspect} is no name: letters, digits and _, beginning with a letter"
    end

    def controller_text(name, actions)
      methods = actions.map { |action| "  def #{action}\n    render template: \"#{name}/#{action}\"\n  end\n" }
      parent = File.exist?(path("app/controllers/application_controller.rb")) ? "Application" : "Fastr::"
      "# frozen_string_literal: true\n\nclass #{names(name)[:class]}Controller < #{parent}Controller\n" \
        "#{methods.join("\n")}end\n"
    end

    def view(name, action)
      target = "app/views/#{name}/#{action}.html.erb"
      @out.puts("Creating view: #{target}")
      write(target, "<h1>#{name}##{action}</h1>\n") unless File.exist?(path(target))
    end

    # The layout of 2010 has test/unit, today's has spec.
    def test(name)
      classic = Dir.exist?(path("test")) || !Dir.exist?(path("spec"))
      target = classic ? "test/unit/test_#{name.tr('/', '_')}_controller.rb" : "spec/#{name}_controller_spec.rb"
      return if File.exist?(path(target))

      @out.puts("Creating test class: #{target}")
      template = classic ? "test/controller_test.rb" : "test/controller_spec.rb"
      write(target, fill(File.read("#{TEMPLATES}/#{template}"), names(name)))
    end

    # Which method and path an action answers is for a person to say.
    def route(name, actions)
      return if actions.empty?

      lines = actions.map { |action| %(  get "/#{name}/#{action}", to: "#{name}##{action}") }
      @out.puts("", "No route leads there yet. In app/config/routes.rb, for example:", *lines)
    end

    def copy(set, name, values, quiet: false)
      base = "#{TEMPLATES}/#{set}"
      Dir.glob("**/*", File::FNM_DOTMATCH, base: base).sort.each do |file|
        next unless File.file?("#{base}/#{file}")

        target = "#{name}/#{file.gsub(%r{(?:\A|(?<=/))dot_}, '.').delete_suffix('.tt')}"
        write(target, fill(File.read("#{base}/#{file}", encoding: Encoding::UTF_8), values))
        @out.puts("  create  #{target}") unless quiet
      end
    end

    def fill(text, values)
      text.gsub(/\{\{(\w+)\}\}/) { values.fetch(Regexp.last_match(1).to_sym) }
    end

    def names(name)
      { name: name, class: Inflector.camelize(Inflector.underscore(name)) }
    end

    def write(target, text)
      FileUtils.mkdir_p(File.dirname(path(target)))
      File.write(path(target), text, mode: "wx")
    end

    def path(name)
      File.expand_path(name, @root)
    end
  end
  private_constant :Generator
end
