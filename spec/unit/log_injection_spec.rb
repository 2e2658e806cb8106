# frozen_string_literal: true

require "stringio"

RSpec.describe Fastr::Log do
  def written(message)
    device = StringIO.new
    described_class.create_logger(device, Logger::INFO, "App").info(message)
    device.string
  end

  it "keeps a message with line breaks from posing as a line of its own" do
    expect(written("bad\n[ERROR] [App]: forged")).to eq("[INFO] [App]: bad\n  [ERROR] [App]: forged\n")
  end

  it "writes control characters as text" do
    expect(written("a\e[2Jb\rc\0")).to eq("[INFO] [App]: a\\e[2Jb\\rc\\x00\n")
    expect(written("\xff\n".b)).to include("\\xFF")
  end
end
