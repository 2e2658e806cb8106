# frozen_string_literal: true

module Fastr
  # Names turned into other names: class, file and path. It owns 2010's rules (`user_admin` is UserAdmin) and asks
  # dry-inflector, loaded when first needed, for singular and plural.
  module Inflector
    module_function

    # @return [String] "admin/user_posts" -> "Admin::UserPosts"
    def camelize(name)
      name.to_s.split("/").map { |part| part.split("_").map { |word| capitalize(word) }.join }.join("::")
    end

    # @return [String] "Admin::UserPosts" -> "admin/user_posts"
    def underscore(name)
      name.to_s.gsub("::", "/").gsub(/([A-Z]+)([A-Z][a-z])/, '\1_\2').gsub(/([a-z\d])([A-Z])/, '\1_\2')
          .tr("-", "_").downcase
    end

    # @return [String]
    def singularize(word)
      rules.singularize(word.to_s)
    end

    # @return [String]
    def pluralize(word)
      rules.pluralize(word.to_s)
    end

    def capitalize(word)
      word.empty? ? word : word[0].upcase + word[1..]
    end

    def rules
      require "dry/inflector"
      @rules ||= Dry::Inflector.new
    end

    private_class_method :capitalize, :rules
  end
  private_constant :Inflector
end
