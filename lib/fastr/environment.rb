# frozen_string_literal: true

require_relative "errors"
require_relative "suggestion"

# The name of the environment the process runs in. It owns where that name comes from; what differs between
# environments is decided where it differs.
module Fastr
  # Variables that name the environment, the first one set wins.
  ENVIRONMENT_VARIABLES = %w[FASTR_ENV APP_ENV RACK_ENV RAILS_ENV].freeze
  # The environments that fastr itself tells apart; an application may have more.
  ENVIRONMENTS = %w[development production test].freeze
  private_constant :ENVIRONMENT_VARIABLES, :ENVIRONMENTS

  class << self
    # @return [String] "development" unless set
    # @raise [ConfigurationError] for a name that is a slip of the pen: running "prodction" would show users the errors
    def environment
      @environment ||= checked_environment(
        ENVIRONMENT_VARIABLES.filter_map { |name| ENV.fetch(name, nil) }.find { |name| !name.empty? } ||
        @default_environment || "development"
      )
    end

    # @param name [String] the environment where no variable names one
    # @api private
    def default_environment=(name)
      @environment = nil
      @default_environment = name
    end

    # @param name [String, Symbol, nil] nil asks the variables again
    # @raise [ConfigurationError] as in {environment}
    def environment=(name)
      @environment = name && checked_environment(name.to_s)
    end

    # @return [Boolean] errors are shown, files are reloaded
    def development?
      environment == "development"
    end

    # @return [Boolean]
    def production?
      environment == "production"
    end

    # @return [Boolean]
    def test?
      environment == "test"
    end

    private

    def checked_environment(name)
      slip = ENVIRONMENTS.include?(name) ? "" : Suggestion.for(name, ENVIRONMENTS)
      raise ConfigurationError, "there is no environment #{name.inspect}.#{slip}" unless slip.empty?

      name
    end
  end
end
