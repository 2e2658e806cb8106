# frozen_string_literal: true

# A public method that takes a value, a name or a piece of SQL has a case in the corpus of hostile text.
RSpec.describe Support::Injection do
  %i[relation model record database module].each do |owner|
    it "has a case for every public method of a #{owner}" do
      expect(described_class.missing(owner)).to eq([]), lambda {
        "#{described_class.missing(owner).join(', ')}: say in spec/support/injection/cases.rb how text gets into it"
      }
    end

    it "has no case for what is not there (#{owner})" do
      expect(described_class.stale(owner)).to eq([])
    end
  end
end
