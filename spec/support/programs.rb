# frozen_string_literal: true

require "rbconfig"

module Support
  # Programs that use AsyncRecord in ways of their own (scripts, rake, irb, beside ActiveRecord), each in a process.
  module Programs
    NOTES = <<~RUBY
      class Note < AsyncRecord::Base; end
    RUBY
    private_constant :NOTES

    # Runs a script that is connected to the example's database by DATABASE_URL and has the model Note.
    # @return [String] what it printed
    def script(code, env: {})
      output, status = run_ruby(<<~RUBY, env: { "DATABASE_URL" => database.url }.merge(env))
        $stdout.sync = true
        require "async_record"
        #{NOTES}
        #{code}
      RUBY
      expect(status).to be_success, output
      output
    end

    # Runs one of Ruby's own commands on the example's database.
    # @return [String]
    def command(name, *arguments, input: "")
      environment = { "DATABASE_URL" => database.url, "RUBYLIB" => Processes::LIBRARY }
      output, status = Open3.capture2e(environment, RbConfig.ruby, "-S", name, *arguments, stdin_data: input)
      expect(status).to be_success, output
      output
    end

    # @return [Integer] what the script is about
    def create_notes(*bodies)
      database.execute("create table notes (id #{column(:id)}, body text, created_at #{column(:time)})")
      bodies.each { |body| database.execute("insert into notes (body) values (?)", body) }
    end
  end
end
