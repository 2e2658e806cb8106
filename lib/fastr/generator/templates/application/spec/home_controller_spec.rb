# frozen_string_literal: true

require "spec_helper"

RSpec.describe "the home page" do
  it "says that the application runs" do
    expect(get("/").body).to include("{{name}} is running")
  end
end
