# frozen_string_literal: true

# A process that asks the same questions for a long time does not grow.
RSpec.describe "AsyncRecord's memory", limit: 300 do
  include Support::Programs

  # Kilobytes that allocators may still take after the warm-up: fragments, arenas of threads that come later.
  let(:allowance) { 12_000 }

  each_database do
    it "is flat over 100,000 queries" do
      create_notes("first", "second", "third")
      output = script(<<~RUBY)
        def resident = File.read("/proc/self/status")[/VmRSS:\\s+(\\d+)/, 1].to_i

        def ask(count)
          work = Array.new(8) do
            -> { (count / 8).times { |index| Note.where(id: index % 4).to_a || Note.find_by(body: index.to_s) } }
          end
          AsyncRecord.async { AsyncRecord.gather(*work) }.await
        end
        ask(20_000)
        GC.start
        warm = resident
        ask(100_000)
        GC.start
        puts resident - warm
      RUBY
      expect(output.to_i).to be < allowance
    end
  end
end
