# frozen_string_literal: true

# Owns the promise that every public method of AsyncRecord says in YARD what it is for and what it returns. Refuses to
# judge prose.

begin
  require "yard"
rescue LoadError
  YARD = nil
end

RSpec.describe "The comments of lib/async_record", if: YARD do
  root = File.expand_path("..", __dir__)

  before(:all) do
    level = YARD::Logger.instance.level
    YARD::Logger.instance.level = YARD::Logger::ERROR
    YARD::Registry.clear
    YARD.parse(["#{root}/lib/async_record.rb", "#{root}/lib/async_record/**/*.rb"])
    YARD::Logger.instance.level = level
    @methods = YARD::Registry.all(:method)
  end

  after(:all) { YARD::Registry.clear }

  def private?(object)
    return false if object.nil? || object.root?

    object.visibility != :public || object.tag(:api)&.text == "private" || private?(object.namespace)
  end

  def said?(method)
    method.has_tag?(:return) || method.has_tag?(:overload) || method.docstring.to_raw.start_with?("(see ")
  end

  it "say what each public method returns" do
    public_ones = @methods.reject { |method| private?(method) || method.is_alias? || method.name == :initialize }
    silent = public_ones.reject { |method| said?(method) }
                        .map { |method| "#{method.file.delete_prefix("#{root}/")}:#{method.line} #{method.path}" }
    expect([silent, public_ones.size > 300]).to eq([[], true])
  end
end
