# frozen_string_literal: true

# A process of its own: how full the heap is depends on all that was loaded.
RSpec.describe "Fastr::Headroom" do
  it "leaves the heap of a program that serves room for many requests' objects" do
    program = <<~RUBY
      require "fastr"
      app = proc { [200, {}, []] }
      Fastr.run(app, port: 0, quiet: true) do |runner|
        GC.start
        stat = GC.stat
        puts stat[:heap_available_slots] - stat[:heap_live_slots]
        runner.stop
      end
    RUBY
    free = IO.popen([RbConfig.ruby, "-I", "lib", "-e", program], &:read)
    expect(Integer(free)).to be > 24_000
  end
end
