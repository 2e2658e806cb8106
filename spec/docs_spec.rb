# frozen_string_literal: true

# Owns the promise that README.md and docs/*.md tell the truth: each document is a story that is run from top to bottom
# in an empty folder. Refuses to judge prose.
#
# The convention, by kind of fenced block:
#   ```ruby, ```erb   whose first line is a comment with nothing but a path (`# app.rb`, `<%# app/views/a.erb %>`):
#                     the file of that name is written.
#   ```ruby           with lines that end in `# => value`: run in a process of its own; each such line is one whole
#                     expression, and its value's `inspect` is compared.
#   ```ruby           anything else: has to be valid Ruby.
#   ```console        lines with `$ ` in front are commands, the lines below one are its output (standard error as
#                     well). `…` stands for anything within a line, a line that is only `…` for any number of lines.
#                     A command whose output says "Listening on" is a server: it serves port 3000 of the commands that
#                     follow, until the next server or the end. `cd` stays in force.
# Blocks in other languages (```sh, ```text) are not run.

require "tmpdir"
require "socket"
require "rbconfig"
require "English"

RSpec.describe "The documentation" do
  root = File.expand_path("..", __dir__)
  documents = ["README.md", *Dir.glob("docs/*.md", base: root)].sort

  # One document, told in an empty folder.
  story = Class.new do
    const_set(:CHECKER, <<~'RUBY')
      code, wrong = STDIN.read, []
      define_singleton_method(:seen) do |line, text, value|
        wrong << "line #{line}: #{value.inspect} instead of #{text}" unless value.inspect == text
        value
      end
      code = code.lines.each_with_index.map do |line, index|
        line.match?(/\S.*# => /) ? line.sub(/\A(.*?)\s*# => (.*)$/) { "seen(#{index + 1}, #{$2.strip.dump}, (#{$1}))" } : line
      end
      begin
        eval(code.join, TOPLEVEL_BINDING.tap { |b| b.receiver.singleton_class.define_method(:seen, &method(:seen)) }, "block", 1)
      rescue StandardError => error
        wrong << error.full_message(highlight: false)
      end
      abort wrong.join("\n") if wrong.any?
    RUBY

    def initialize(root, text)
      @root = root
      @blocks = text.scan(/^```(\w+)\n(.*?)^```$/m)
    end

    def tell
      Dir.mktmpdir("fastr-docs") do |folder|
        @folder = folder
        @blocks.each { |language, text| block(language, text) }
      ensure
        stop
      end
    end

    private

    def block(language, text)
      path = text[%r{\A(?:#|<%#) ([\w./-]+\.\w+)(?: %>)?$}, 1]
      if path && %w[ruby erb].include?(language) then write(path, text)
      elsif language == "ruby" then ruby(text)
      elsif language == "console" then console(text)
      end
    end

    def write(path, text)
      FileUtils.mkdir_p(File.dirname("#{@folder}/#{path}"))
      File.write("#{@folder}/#{path}", text)
    end

    def ruby(text)
      return RubyVM::InstructionSequence.compile(text) unless text.include?("# => ")

      output = IO.popen([environment, RbConfig.ruby, "-rfastr", "-e", self.class::CHECKER,
                         { chdir: @folder, err: %i[child out] }], "r+") do |io|
        io.write(text)
        io.close_write
        io.read
      end
      raise "#{text}\n#{output}" unless $CHILD_STATUS.success?
    end

    def console(text)
      text.split(/^\$ /).drop(1).each do |part|
        command, output = part.split("\n", 2)
        next @folder = File.expand_path(command.delete_prefix("cd "), @folder) if command.start_with?("cd ")

        output.include?("Listening on") ? serve(command, output) : compare(command, output, run(command))
      end
    end

    def run(command)
      command = command.gsub(/(?:localhost|127\.0\.0\.1):3000/, "127.0.0.1:#{@port}") if @port
      command = command.gsub(/\bcurl /, "curl --silent --show-error --max-time 10 ")
      output = IO.popen([environment, "sh", "-c", command, { chdir: @folder, err: %i[child out] }], &:read)
      @port ? output.gsub(@port.to_s, "3000") : output
    end

    # The lines up to "Listening on" are the whole output that a document can show.
    def serve(command, expected)
      stop
      @port = TCPServer.open("127.0.0.1", 0) { |socket| socket.addr[1] }
      @server = IO.popen([environment.merge("PORT" => @port.to_s), "sh", "-c", "exec #{command}",
                          { chdir: @folder, err: %i[child out] }])
      lines = []
      lines << @server.gets.to_s until lines.last&.include?("Listening on") || lines.last == ""
      compare(command, expected, lines.join.gsub(@port.to_s, "3000"))
      Thread.new(@server) { |server| server.each_line { nil } }.report_on_exception = false
    end

    def stop
      return unless @server

      Process.kill("TERM", @server.pid)
      Process.wait(@server.pid)
      @server = @port = nil
    rescue Errno::ESRCH, Errno::ECHILD
      @server = @port = nil
    end

    def compare(command, expected, output)
      pattern = expected.lines(chomp: true).reject(&:empty?).map { |line| matcher(line) }.join
      seen = output.delete("\r").lines(chomp: true).reject(&:empty?).map { |line| "#{line.rstrip}\n" }.join
      return if seen.match?(/\A#{pattern}\z/)

      raise "$ #{command}\n--- the document says\n#{expected}\n--- it printed\n#{output}"
    end

    def matcher(line)
      return "(?:.*\\n)*" if line.strip == "…"

      "#{line.rstrip.split("…", -1).map { |text| Regexp.escape(text) }.join(".*")}\\n"
    end

    def environment
      { "RUBYLIB" => "#{@root}/lib", "PATH" => "#{@root}/exe:#{ENV.fetch("PATH")}", "RUBYOPT" => "-W0",
        "FASTR_ENV" => "development", "APP_ENV" => nil, "RACK_ENV" => nil, "PORT" => nil, "BINDING" => "127.0.0.1" }
    end
  end

  documents.each do |document|
    it "is true in #{document}" do
      story.new(root, File.read("#{root}/#{document}", encoding: Encoding::UTF_8)).tell
    end
  end

  it "names only files that exist in ARCHITECTURE.md" do
    files = Dir.glob("{ext,lib,spec}/**/*.{rs,rb}", base: root).map { |file| "/#{file}" }
    named = File.read("#{root}/ARCHITECTURE.md", encoding: Encoding::UTF_8).scan(%r{`([\w./]+\.r[sb])`}).flatten.uniq
    expect(named.reject { |name| files.any? { |file| file.end_with?("/#{name}") } }).to eq([])
    expect(named.size).to be > 50
  end

  it "links only to files that exist" do
    broken = documents.push("ARCHITECTURE.md").uniq.flat_map do |document|
      text = File.read("#{root}/#{document}", encoding: Encoding::UTF_8)
      text.scan(/\]\((?!https?:|#|mailto:)([^)#\s]+)/).flatten
          .reject { |target| File.exist?(File.expand_path(target, File.dirname("#{root}/#{document}"))) }
          .map { |target| "#{document}: #{target}" }
    end
    expect(broken).to eq([])
  end
end
