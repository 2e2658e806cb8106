# frozen_string_literal: true

ENV["FASTR_ENV"] = "test"
require "fastr/dsl"
require "fastr/test"
require "fastr/test/logger"
require_relative "../app"

RSpec.describe "hello" do
  include Fastr::Test::Requests

  it "greets" do
    expect([get("/").body, get("/hello/ann").body]).to eq(["Hello, world!\n", "Hello ann\n"])
  end

  it "answers JSON" do
    expect(get("/json").json).to eq("message" => "Hello, World!")
  end

  it "counts in pieces" do
    expect(get("/count").body).to eq("0\n1\n2\n3\n4\n")
  end
end
