# frozen_string_literal: true

module Fastr
  # The parameters of one request as one Hash-like object: route captures, query, form, JSON body and uploads.
  # Every value is readable by Symbol and by String. It owns precedence (captures, then body, then query) and
  # laziness: nothing is parsed before something is asked for that the route itself does not know.
  #
  # {#to_h} has the shape of 2010: String keys for what the client sent, Symbol keys for what the route captured.
  #
  # @example GET /users/7?page=2 with the route "/users/:id"
  #   params[:id]     # => "7"
  #   params["page"]  # => "2"
  #   params.fetch(:page, "1")
  class Params
    include Enumerable

    # An empty list of captures.
    NO_CAPTURES = [].freeze

    # Names, and what is fixed, where there is no route.
    NoRoute = Struct.new(:names, :fixed)
    NO_ROUTE = NoRoute.new({}.freeze, {}.freeze).freeze
    private_constant :NoRoute, :NO_ROUTE

    # @param route [#names, #fixed] names and their places in the captures, and what the route fixes (`:controller`,
    #   `:action`, defaults)
    # @param captures [Array<String, nil>, nil] what the route captured; nil asks the request
    # @param request [Request, RackRequest, nil] whose query and body are read when first needed
    def initialize(route, captures, request)
      @route = route
      @captures = captures
      @request = request
    end

    # @param values [Hash] nested values, made readable both ways
    # @return [Params]
    def self.wrap(values)
      new(NO_ROUTE, NO_CAPTURES, nil).tap { |params| params.sent = values.transform_keys(&:to_s) }
    end

    # @param request [Request, RackRequest]
    # @return [Hash{String => Object}] query and body, the body's values winning
    # @raise [RequestError] 400 when either cannot be read
    def self.sent_by(request)
      query = request.query_string
      values = query.nil? || query.empty? ? {} : NestedParams.build(Native.parse_query(query))
      Body.expected?(request) ? values.merge(Body.params(request)) : values
    end

    # @param key [Symbol, String]
    # @return [String, Array, Params, Upload, nil] nested Hashes come back as Params
    def [](key)
      value = from_route(key)
      return value unless value.nil?

      convert(sent[key.is_a?(Symbol) ? key.name : key.to_s])
    end

    # @param key [Symbol, String]
    # @param default [Array] at most one value to give when the key is missing
    # @return [Object] the value, the default or the block's value
    # @raise [RequestError] 400 when it is missing and there is neither default nor block
    def fetch(key, *default)
      return self[key] if key?(key)
      return yield(key) if block_given?
      return default.first unless default.empty?

      raise RequestError, "parameter #{key.to_s.inspect} is missing"
    end

    # @return [Boolean] whether the key is known, even with an empty value
    def key?(key)
      !from_route(key).nil? || sent.key?(key.to_s)
    end
    alias has_key? key?
    alias include? key?
    alias member? key?

    # @return [Object, nil] the value at the end of a path of keys and indexes
    def dig(key, *rest)
      value = self[key]
      rest.empty? || value.nil? ? value : value.dig(*rest)
    end

    # @return [Array] the values of several keys
    def values_at(*keys)
      keys.map { |key| self[key] }
    end

    # @return [Hash{Symbol => Object}] only these keys, those that are there; for a model's attributes
    def slice(*keys)
      keys.each_with_object({}) { |key, found| found[key.to_sym] = self[key] if key?(key) }
    end

    # @return [Hash] all but these keys
    def except(*keys)
      unwanted = keys.map(&:to_s)
      to_h.reject { |key, _| unwanted.include?(key.to_s) }
    end

    # @return [Hash{String, Symbol => Object}] a plain Hash in the shape of 2010
    def to_h
      sent.merge(route_values)
    end
    alias to_hash to_h

    # @return [Hash] a plain Hash, with the other values over it
    def merge(*others)
      to_h.merge(*others.map(&:to_h))
    end

    # @yieldparam key [String, Symbol]
    # @yieldparam value [Object]
    def each(&block)
      return enum_for(:each) unless block

      to_h.each(&block)
      self
    end
    alias each_pair each

    # @return [Array<String, Symbol>]
    def keys
      to_h.keys
    end

    # @return [Array]
    def values
      to_h.values
    end

    # @return [Integer]
    def size
      to_h.size
    end
    alias length size

    # @return [Boolean]
    def empty?
      to_h.empty?
    end

    # @param values [Hash{String => Object}] what the client sent
    # @api private
    attr_writer :sent

    # @return [Boolean] equal to a Hash or Params with the same content
    def ==(other)
      other.respond_to?(:to_h) && to_h == other.to_h
    end

    # @return [String] the plain Hash as JSON
    def to_json(*arguments)
      to_h.to_json(*arguments)
    end

    # @return [String]
    def inspect
      "#<Fastr::Params #{to_h.inspect}>"
    end
    alias to_s inspect

    private

    def from_route(key)
      key = key.to_sym if key.is_a?(String) && route_key?(key)
      index = @route.names[key]
      value = captured(index) if index
      value || @route.fixed[key]
    end

    # A capture is never empty; that of an absent optional part is.
    def captured(index)
      @captures ||= @request.captures
      value = @captures[index]
      value unless value.nil? || value.empty?
    end

    # Only names the route knows become Symbols: a client cannot fill the symbol table.
    def route_key?(key)
      @route.names.any? { |name, _| name.name == key } || @route.fixed.any? { |name, _| name.name == key }
    end

    def sent
      @sent ||= @request ? Params.sent_by(@request) : {}
    end

    def route_values
      values = @route.fixed.dup
      @route.names.each { |name, index| captured(index)&.then { |value| values[name] = value } }
      values
    end

    def convert(value)
      case value
      when Hash then Params.wrap(value)
      when Array then value.map { |item| convert(item) }
      else value
      end
    end
  end
end
