# frozen_string_literal: true

module Fastr
  # A Rack application at a place of its own: SCRIPT_NAME grows by that place, PATH_INFO shrinks by it. It owns this
  # cut; running the application natively is {RackHost}'s work.
  class Mount
    # @return [#call] the Rack application
    attr_reader :app

    # @param app [#call]
    # @param prefix [String, nil] the place; nil leaves the env alone
    def initialize(app, prefix)
      @app = app
      @prefix = prefix
    end

    # @param env [Hash]
    # @return [Array] the application's Rack response
    def call(env)
      return @app.call(env) if @prefix.nil? || @prefix.empty?

      script, path = env.values_at("SCRIPT_NAME", "PATH_INFO")
      env["SCRIPT_NAME"] = "#{script}#{@prefix}"
      env["PATH_INFO"] = path.delete_prefix(@prefix)
      @app.call(env)
    ensure
      if script || path
        env["SCRIPT_NAME"] = script
        env["PATH_INFO"] = path
      end
    end
  end
  private_constant :Mount
end
