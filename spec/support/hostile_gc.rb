# frozen_string_literal: true

module Support
  # The collector at its worst, for values that native code holds: FASTR_GC=stress frees what is not marked at the next
  # allocation, FASTR_GC=compact moves everything that may move and checks every reference.
  module HostileGC
    def self.install(config, mode)
      case mode
      when "stress" then config.around { |example| Support::HostileGC.stress { example.run } }
      when "compact" then config.after { GC.verify_compaction_references(toward: :empty) }
      end
    end

    def self.stress
      GC.stress = true
      yield
    ensure
      GC.stress = false
    end
  end
end
