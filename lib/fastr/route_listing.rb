# frozen_string_literal: true

require "json"

module Fastr
  # What `fastr routes` prints. It owns columns and filters.
  class RouteListing
    # @param routes [Array<Route>]
    def initialize(routes)
      @routes = routes
    end

    # @param grep [String, nil] a regular expression for lines
    # @param controller [String, nil] a controller's name, as routes write it
    # @param json [Boolean]
    # @return [String]
    def to_s(grep: nil, controller: nil, json: false)
      routes = controller ? @routes.select { |route| route.controller == controller } : @routes
      return JSON.pretty_generate(routes.map { |route| entry(route) }) if json

      lines = align(routes.map { |route| entry(route).values })
      lines = lines.grep(Regexp.new(grep)) if grep
      lines.empty? ? "no routes" : lines.join("\n")
    rescue RegexpError => e
      raise ConfigurationError, "#{grep.inspect} is no regular expression: #{e.message}"
    end

    private

    def entry(route)
      constraints = if route.classic?
                      route.constraints.reject do |_, source|
                        source == Pattern::WORD
                      end
                    else
                      route.constraints
                    end
      { methods: route.methods&.join("|") || "ANY", path: route.pattern, target: route.target, name: route.name.to_s,
        constraints: constraints.map { |name, source| "#{name}=/#{source}/" }.join(" "), location: route.location }
    end

    def align(rows)
      widths = rows.transpose.map { |column| column.map(&:size).max }
      rows.map do |row|
        row.zip(widths).map do |cell, width|
          cell.ljust(width)
        end.reject(&:empty?).join("  ").rstrip
      end
    end
  end
  private_constant :RouteListing
end
