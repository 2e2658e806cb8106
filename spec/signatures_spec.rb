# frozen_string_literal: true

require "open3"
require "rbconfig"

# Owns the promise that sig/*.rbs name nothing that is not there. Refuses to judge the types themselves: `rbs validate`
# checks that they fit together.
RSpec.describe "The signatures", if: Gem::Specification.any? { |gem| gem.name == "rbs" } do
  it "name modules and methods that exist" do
    script = File.expand_path("support/signatures/check.rb", __dir__)
    output, status = Open3.capture2e(RbConfig.ruby, "-I#{File.expand_path("../lib", __dir__)}", script)
    expect([output, status.success?]).to match([/\A\d{2,} modules looked at\Z/, true])
  end
end
