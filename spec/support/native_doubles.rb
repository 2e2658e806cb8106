# frozen_string_literal: true

require "uri"

# Small Ruby versions of the native parts that the framework needs to run without a server, for as long as the compiled
# extension does not have them: the route table and the parsers of forms and cookies. Same interface, same answers.
module Support
  # The route table's double: first match wins, in order of adding.
  class RouteTableDouble
    def initialize
      @routes = []
    end

    def add(methods, pattern, constraints, id)
      names = pattern.scan(/[:*](\w+)/).flatten
      @routes << [methods, Regexp.new("\\A#{source(pattern, constraints)}\\z"), names, id]
    end

    def match(method, path)
      decoded = path.gsub(/%(\h\h)/) { $1.hex.chr }.force_encoding("UTF-8")
      allowed = []
      @routes.each do |methods, regex, names, id|
        found = regex.match(decoded) or next
        return [id, names.map { |name| found[name] }] if fits?(methods, method)

        allowed.concat(methods)
      end
      allowed.empty? ? nil : allowed.uniq
    end

    private

    def fits?(methods, method)
      methods.nil? || methods.include?(method) || (method == "HEAD" && methods.include?("GET"))
    end

    def source(pattern, constraints)
      text = Regexp.escape(pattern).gsub("\\(", "(?:").gsub("\\)", ")?").gsub("\\*", "*")
      text.gsub(/([:*])(\w+)/) { "(?<#{$2}>#{constraints[$2] || ($1 == '*' ? '.+' : '[^/]+')})" }
          .gsub("(?<", "\0").gsub("\0", "(?<")
    end
  end
end

unless Fastr::RouteTable.method_defined?(:match)
  Fastr.send(:remove_const, :RouteTable)
  Fastr::RouteTable = Support::RouteTableDouble
end

unless Fastr::Native.respond_to?(:parse_query)
  Fastr::Native.define_singleton_method(:parse_query) do |text|
    URI.decode_www_form(text)
  rescue ArgumentError => e
    raise Fastr::RequestError.new(e.message, 400)
  end
end

unless Fastr::Native.respond_to?(:parse_cookies)
  Fastr::Native.define_singleton_method(:parse_cookies) do |text|
    text.split(/; */).to_h { |pair| pair.split("=", 2).map(&:strip) }
  end
end
