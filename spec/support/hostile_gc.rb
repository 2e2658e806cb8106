# frozen_string_literal: true

module Support
  # The collector at its worst, for values that native code holds: FASTR_GC=stress frees at every allocation what is not
  # marked, FASTR_GC=compact moves everything that may move and checks every reference.
  module HostileGC
    # A full collection takes 50 times as long as a minor one: every allocation of the first half second of an example
    # gets the full one, the later ones the minor one.
    FULL_FOR = 0.5
    MINOR_ONLY = 1

    # Examples whose code runs in a process of its own, where the collector is its usual self, are marked `gc: false`.
    def self.install(config, mode)
      config.filter_run_excluding(gc: false) if mode
      case mode
      when "stress" then config.around { |example| Support::HostileGC.stress { example.run } }
      when "compact" then config.after { GC.verify_compaction_references(toward: :empty) }
      end
    end

    def self.stress
      relief = Thread.new do
        sleep FULL_FOR
        GC.stress = MINOR_ONLY
      end
      GC.stress = true
      yield
    ensure
      relief&.kill&.join
      GC.stress = false
    end
  end
end
