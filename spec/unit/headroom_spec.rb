# frozen_string_literal: true

# A process of its own: how full the heap is depends on all that was loaded.
RSpec.describe "Fastr::Headroom" do
  it "leaves the heap of a program that serves room for the objects of a thousand requests" do
    program = <<~RUBY
      require "fastr"
      app = proc { [200, {}, []] }
      Fastr.run(app, port: 0, quiet: true) do |runner|
        GC.start
        collections = GC.count
        16_000.times { Object.new }
        puts GC.count - collections
        runner.stop
      end
    RUBY
    expect(IO.popen([RbConfig.ruby, "-I", "lib", "-e", program], &:read)).to eq("0\n")
  end
end
