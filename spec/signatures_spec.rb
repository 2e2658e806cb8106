# frozen_string_literal: true

# Owns the promise that sig/*.rbs name nothing that is not there. Refuses to judge the types themselves: `rbs validate`
# checks that they fit together.
#
# RBS is loaded where it is used: its parser keeps classes that the collector may move, as other examples make it do.
RSpec.describe "The signatures", if: Gem::Specification.any? { |gem| gem.name == "rbs" } do
  before(:all) do
    require "rbs"
    require "fastr/test"
    require "fastr/synchrony"
    require "async_record/migrator"
    require "async_record/cli"
    require "async_record/test"
    loader = RBS::EnvironmentLoader.new
    loader.add(path: Pathname(File.expand_path("../sig", __dir__)))
    @environment = RBS::Environment.from_loader(loader).resolve_type_names
    @builder = RBS::DefinitionBuilder.new(env: @environment)
    @names = @environment.class_decls.keys.select { |name| name.to_s.match?(/\A::(?:Fastr|AsyncRecord)\b/) }
  end

  def missing(definition, name, separator, &known)
    own = definition.methods.select { |_, method| method.defs.any? { |part| part.defined_in == name } }
    own.keys.reject(&known).map { |method| "#{name}#{separator}#{method}" }
  end

  it "name modules and methods that exist" do
    wrong = @names.flat_map do |name|
      owner = Object.const_get(name.to_s.delete_prefix("::"))
      missing(@builder.build_instance(name), name, "#") do |method|
        owner.method_defined?(method) || owner.private_method_defined?(method)
      end + missing(@builder.build_singleton(name), name, ".") { |method| owner.respond_to?(method, true) }
    rescue NameError
      ["#{name} does not exist or is private"]
    end
    expect(wrong).to eq([])
  end
end
