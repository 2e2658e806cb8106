# frozen_string_literal: true

require "spec_helper"

RSpec.describe "{{class}}Controller" do
  it "answers" do
    skip "write what it answers"
  end
end
