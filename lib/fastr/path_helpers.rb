# frozen_string_literal: true

require "cgi/escape"

module Fastr
  # The methods behind route names: `user_path(7)`, `user_url(id: 7, tab: "posts")`, in controllers and views. It owns
  # building paths from patterns; a missing, extra or unfit value raises {PathError} instead of a broken link.
  module PathHelpers
    module_function

    # Defines both helpers of a named route; the first route of a name keeps it.
    # @param target [Module]
    # @param route [Route]
    # @return [void]
    def define(target, route)
      path_name = :"#{route.name}_path"
      return if target.method_defined?(path_name)

      target.define_method(path_name) { |*values, **named| PathHelpers.build(route, values, named) }
      target.define_method(:"#{route.name}_url") do |*values, **named|
        "#{request.scheme}://#{request.host}#{PathHelpers.build(route, values, named)}"
      end
    end

    # @param route [Route]
    # @param values [Array] for the captures in order; a record gives its `to_param` or `id`
    # @param named [Hash] for captures by name; the rest becomes the query
    # @return [String]
    def build(route, values, named)
      given = assign(route, values).merge(named)
      path = fill(route, required(route.pattern, given), given)
      query = given.except(*route.names).compact
      query.empty? ? path : "#{path}?#{encode_query(query)}"
    end

    # Optional parts stay when each name in them has a value.
    def required(pattern, given)
      pattern.gsub(/\(([^)]*)\)/) do
        part = Regexp.last_match(1)
        Pattern.names(part).all? { |name| given.key?(name) } ? part : ""
      end
    end

    def assign(route, values)
      if values.size > route.names.size
        raise PathError, "#{route.name}_path takes #{route.names.size} values, got #{values.size}"
      end

      route.names.zip(values).first(values.size).to_h
    end

    def fill(route, pattern, given)
      pattern.gsub(Pattern::NAME) do
        kind = Regexp.last_match(1)
        name = Regexp.last_match(2).to_sym
        text = text_for(route, name, given[name])
        kind == "*" ? text.split("/").map { |part| escape(part) }.join("/") : escape(text)
      end
    end

    def text_for(route, name, value)
      value = identify(value)
      raise PathError, "#{route.name}_path needs a value for :#{name}" if value.nil? || value.to_s.empty?

      constraint = route.constraints[name]
      return value.to_s if constraint.nil? || Regexp.new("\\A(?:#{constraint})\\z").match?(value.to_s)

      raise PathError, "#{route.name}_path: #{value.to_s.inspect} does not fit the constraint of :#{name}"
    end

    # A record stands for what it says of itself, else for its id. ActiveSupport gives every object a `to_param`.
    def identify(value)
      own = value.respond_to?(:to_param) && !value.method(:to_param).owner.equal?(Object)
      return value.to_param if own

      value.respond_to?(:id) ? value.id : value
    end

    def encode_query(query)
      query.flat_map { |key, value| pairs(key.to_s, value) }.join("&")
    end

    def pairs(key, value)
      case value
      when Hash then value.flat_map { |name, item| pairs("#{key}[#{name}]", item) }
      when Array then value.flat_map { |item| pairs("#{key}[]", item) }
      else ["#{escape(key)}=#{escape(value.to_s)}"]
      end
    end

    def escape(text)
      CGI.escape(text).gsub("+", "%20")
    end

    private_class_method :required, :assign, :fill, :text_for, :identify, :encode_query, :pairs, :escape
  end
  private_constant :PathHelpers
end
