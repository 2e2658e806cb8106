# frozen_string_literal: true

module Fastr
  # `set_cookie` of 2010. It owns the text of a Set-Cookie header and refuses values that would change its meaning;
  # anything with a `headers` Hash can include it.
  module Cookie
    # Characters that end a value, a header line or a string in C.
    FORBIDDEN = /[\x00-\x1f\x7f;]/
    # A cookie's name is a token.
    NAME = /\A[!#$%&'*+\-.^_`|~0-9A-Za-z]+\z/
    private_constant :FORBIDDEN, :NAME

    # Adds a Set-Cookie header to the response, in the form of 2010.
    # @param key [String, Symbol]
    # @param value [#to_s]
    # @param options [Hash] any attribute, printed in alphabetical order; a Time under :expires is formatted;
    #   `true` prints the bare name (`:secure => true`), `false` and nil print nothing
    # @raise [ArgumentError] when name, value or attribute would break the header
    # @example
    #   set_cookie("sess", id, :expires => Time.now + 3600, :path => "/", :httponly => true)
    def set_cookie(key, value, options = {})
      line = Cookie.line(key, value, options)
      known = headers["Set-Cookie"]
      known.is_a?(Array) ? known << line : headers["Set-Cookie"] = [*known, line]
    end

    # @return [String] the header's value
    # @api private
    def self.line(key, value, options)
      raise ArgumentError, "#{key.inspect} is no cookie name" unless NAME.match?(key.to_s)

      parts = ["#{key}=#{checked(value)};"]
      options.sort_by { |name, _| name.to_s }.each { |name, setting| parts << attribute(name, setting) }
      parts.compact.join(" ")
    end

    # @return [String, nil] one attribute of the header
    # @api private
    def self.attribute(name, setting)
      case setting
      when true then "#{checked(name)};"
      when false, nil then nil
      when Time then "#{checked(name)}=#{setting.getutc.strftime('%a, %d-%b-%Y %H:%M:%S GMT')};"
      else "#{checked(name)}=#{checked(setting)};"
      end
    end

    # @api private
    def self.checked(value)
      text = value.to_s
      return text unless FORBIDDEN.match?(text.b)

      raise ArgumentError, "a cookie cannot hold control characters or ';': #{text[0, 40].inspect}; encode it first"
    end
  end

  # The cookies of one request, and the way to set new ones with safe defaults. Readable by String and Symbol.
  # It owns precedence between what came and what was set now; parsing is Rust's.
  #
  # @example
  #   cookies["theme"]
  #   cookies.set(:theme, "dark", expires: Time.now + 86_400)   # HttpOnly, SameSite=Lax, Path=/
  #   cookies.delete(:theme)
  class Cookies
    include Enumerable

    # @param values [Hash{String => String}] what the client sent
    # @param controller [#set_cookie, nil] where new cookies go
    # @param secure [Boolean] whether the request came over TLS
    def initialize(values, controller = nil, secure: false)
      @values = values
      @controller = controller
      @secure = secure
    end

    # @param name [String, Symbol]
    # @return [String, nil]
    def [](name)
      @values[name.to_s]
    end

    # @return [String] the value, the default or the block's value
    def fetch(name, *default, &block)
      @values.fetch(name.to_s, *default, &block)
    end

    # @return [Boolean]
    def key?(name)
      @values.key?(name.to_s)
    end
    alias has_key? key?
    alias include? key?

    # @yieldparam name [String]
    # @yieldparam value [String]
    def each(&block)
      @values.each(&block)
    end

    # @return [Hash{String => String}]
    def to_h
      @values.dup
    end

    # @return [Boolean]
    def empty?
      @values.empty?
    end

    # @return [Integer]
    def size
      @values.size
    end

    # Sets a cookie: out of reach of scripts, not sent by other sites' forms, and over TLS only where this request
    # came over TLS.
    # @param name [String, Symbol]
    # @param value [#to_s]
    # @param options [Hash] path:, domain:, expires:, max_age:, httponly:, secure:, samesite:
    # @return [String] the value
    def set(name, value, **options)
      attributes = { path: "/", httponly: true, samesite: "Lax", secure: @secure }.merge(options)
      attributes["max-age"] = attributes.delete(:max_age) if attributes.key?(:max_age)
      @controller.set_cookie(name, value, attributes)
      @values = @values.merge(name.to_s => value.to_s)
      value
    end
    alias []= set

    # Tells the client to forget a cookie.
    # @param name [String, Symbol]
    # @param options [Hash] path: and domain: it was set with
    # @return [String, nil] its value until now
    def delete(name, **options)
      value = self[name]
      set(name, "", **options, expires: Time.at(0), max_age: 0)
      @values = @values.except(name.to_s)
      value
    end
  end
end
