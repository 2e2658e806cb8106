# frozen_string_literal: true

# What a server asks of Ruby's compiler, in a process of its own with a compiler that says when it is turned on.
RSpec.describe "Fastr::JIT" do
  def asked(env)
    program = <<~RUBY
      class RubyVM
        remove_const(:YJIT) if const_defined?(:YJIT)
        YJIT = Module.new { def self.enable = print("on ") }
      end
      require "fastr"
      Fastr.run(proc { [200, {}, []] }, port: 0, quiet: true, &:stop)
      print "served"
    RUBY
    env = { "FASTR_ENV" => "production", "RUBY_YJIT_ENABLE" => nil }.merge(env)
    IO.popen([env, RbConfig.ruby, "-I", "lib", "-e", program], &:read)
  end

  it "is turned on for a server in production, unless Ruby was told" do
    expect(asked({})).to eq("on served")
    expect(asked("RUBY_YJIT_ENABLE" => "0")).to eq("served")
    expect(asked("FASTR_ENV" => "development")).to eq("served")
  end

  it "is not missed where Ruby has none" do
    output, = run_ruby("class RubyVM; remove_const(:YJIT) if const_defined?(:YJIT); end; require 'fastr'; " \
                       "Fastr.run(proc { [200, {}, []] }, port: 0, quiet: true, &:stop); print 'served'",
                       env: { "FASTR_ENV" => "production" })
    expect(output).to eq("served")
  end
end
