# frozen_string_literal: true

module Fastr
  # One line of the route table: which requests it takes and where they go. It owns that description and its
  # place in the source; it neither matches nor runs anything.
  class Route
    # @return [Array<String>, nil] upper-case methods; nil takes all
    attr_reader :methods
    # @return [String] "/users/:id", "/files/*rest", "/a(.:format)"
    attr_reader :pattern
    # @return [String, Regexp, nil] the host it is for
    attr_reader :host
    # @return [Hash{Symbol => String}] regular expressions of captured names
    attr_reader :constraints
    # @return [Hash{Symbol => String}] what the route fixes: `:controller`, `:action` and defaults
    attr_reader :fixed
    # @return [Array<Symbol>] the captured names, in order
    attr_reader :names
    # @return [Proc, nil] the block that is the action
    attr_reader :block
    # @return [#call, nil] the Rack application mounted here
    attr_reader :rack
    # @return [String, nil] the name behind its path helper
    attr_reader :name
    # @return [String] "file:line" of its definition
    attr_reader :location
    # @return [Hash] the options as written (2010's :args)
    attr_reader :args

    # @param pattern [String]
    # @param methods [Array<String>, nil]
    # @param constraints [Hash{Symbol => Object}] as the user wrote them
    # @param fixed [Hash{Symbol => String}]
    # @param host [String, Regexp, nil] without a port; nil is any
    # @param exact [Boolean] whether the pattern is final; otherwise a slash at its end is dropped
    # @param classic [Boolean] a route in the words of 2010, where `:name` means a word and mistakes surface late
    def initialize(pattern, methods: nil, constraints: {}, fixed: {}, block: nil, rack: nil, name: nil,
                   location: "", classic: false, args: nil, exact: false, host: nil)
      @constraints = constraints.transform_values { |constraint| Pattern.constraint(constraint) }
      @pattern = exact ? pattern : Pattern.normalize(pattern)
      @names = Pattern.names(@pattern)
      @names.each { |word| @constraints[word] ||= Pattern::WORD } if classic
      @methods = methods
      @host = host
      @fixed = fixed
      @block = block
      @rack = rack
      @name = name
      @location = location
      @classic = classic
      @args = args
      check
    end

    # @return [Boolean] written in the words of 2010
    def classic?
      @classic
    end

    # @return [String, nil] the fixed controller
    def controller
      @fixed[:controller]
    end

    # @return [String, nil] the fixed action
    def action
      @fixed[:action]
    end

    # @return [Boolean] whether the client's path chooses the controller or the action
    def wildcard?
      !(@block || @rack) && (@names.include?(:controller) || @names.include?(:action))
    end

    # @return [String] where it goes, for people
    def target
      return "block" if @block
      return @rack.is_a?(Module) ? @rack.name.to_s : @rack.class.name.to_s if @rack

      "#{controller || ':controller'}##{action || ':action'}"
    end

    # Reads the keys of 2010's route Hash.
    # @param key [Symbol] :regex, :args, :vars, :hash or :methods
    def [](key)
      case key
      when :regex then regex
      when :args then @args
      when :vars then @names
      when :hash then @fixed
      when :methods then @methods&.map { |method| method.downcase.to_sym }
      end
    end

    private

    def regex
      "^#{@pattern.gsub(Pattern::NAME) { "(#{@constraints[Regexp.last_match(2).to_sym] || '[^/]+'})" }}$"
    end

    def check
      twice = @names.tally.select { |_, times| times > 1 }.keys
      raise RouteError, "#{@pattern}: :#{twice.first} is captured twice" unless twice.empty?

      unknown = @constraints.keys - @names
      return if unknown.empty? || @classic

      raise RouteError,
            "#{@pattern}: there is no :#{unknown.first} in this pattern to constrain#{suggest(unknown.first)}"
    end

    def suggest(word)
      Suggestion.for(word, @names)
    end
  end
end
