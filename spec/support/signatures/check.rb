# frozen_string_literal: true

# Prints what sig/*.rbs name although it is not there, a line each; for spec/signatures_spec.rb. A process of its own:
# RBS brings Bundler's changes to RubyGems along, and its parser does not survive a compaction between loading and use.

require "rbs"
require "fastr"
require "fastr/test"
require "fastr/synchrony"
require "async_record"
require "async_record/migrator"
require "async_record/cli"
require "async_record/test"

loader = RBS::EnvironmentLoader.new
loader.add(path: Pathname(File.expand_path("../../../sig", __dir__)))
environment = RBS::Environment.from_loader(loader).resolve_type_names
builder = RBS::DefinitionBuilder.new(env: environment)
names = environment.class_decls.keys.select { |name| name.to_s.match?(/\A::(?:Fastr|AsyncRecord)\b/) }

missing = lambda do |definition, name, separator, known|
  own = definition.methods.select { |_, method| method.defs.any? { |part| part.defined_in == name } }
  own.keys.reject(&known).map { |method| "#{name}#{separator}#{method}" }
end

names.each do |name|
  owner = Object.const_get(name.to_s.delete_prefix("::"))
  instance = ->(method) { owner.method_defined?(method) || owner.private_method_defined?(method) }
  puts missing.call(builder.build_instance(name), name, "#", instance)
  puts missing.call(builder.build_singleton(name), name, ".", ->(method) { owner.respond_to?(method, true) })
rescue NameError
  puts "#{name} does not exist or is private"
end
puts "#{names.size} modules looked at"
