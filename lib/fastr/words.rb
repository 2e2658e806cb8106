# frozen_string_literal: true

module Fastr
  # The words of an application made of blocks: routes, filters, helpers, errors. It owns only their passing on, to the
  # router and to the controller class of the blocks; {Application} instances have them, classes record them.
  module Words
    # Words of {Router::Drawing}.
    ROUTES = %i[get post put patch delete head options match root redirect mount scope namespace constraints resources
                resource].freeze

    ROUTES.each do |word|
      define_method(word) { |*arguments, **options, &block| router.public_send(word, *arguments, **options, &block) }
    end

    # Runs a block (or methods from `helpers`) before each route's block.
    # @see Filter::ClassMethods#before_filter
    def before(*names, &block)
      block_controller.before_filter(*names, &block)
    end

    # Runs a block (or methods from `helpers`) after each route's block; it takes the response and returns it.
    # @see Filter::ClassMethods#after_filter
    def after(*names, &block)
      block_controller.after_filter(*names, &block)
    end

    # Methods for the routes' blocks and their templates.
    # @param modules [Array<Module>]
    # @yield method definitions
    def helpers(*modules, &block)
      modules.each { |mod| block_controller.include(mod) }
      block_controller.class_eval(&block) if block
    end

    # Answers errors of these classes (every StandardError without any).
    # @yieldparam error [StandardError]
    def error(*errors, &block)
      errors = [StandardError] if errors.empty?
      block_controller.rescue_from(*errors, &block)
    end

    # Answers requests that no route takes.
    # @yieldreturn [Object] whatever an action may return; the status is 404 unless it says otherwise
    def not_found(&block)
      block_controller.define_method(:fastr_not_found, &block)
      @not_found = Endpoint.new(self, block_controller, :fastr_not_found)
    end

    # Sets {Settings}.
    # @yieldparam settings [Settings]
    # @return [Settings]
    def configure
      yield settings if block_given?
      settings
    end
  end
  private_constant :Words

  # The same words for `class App < Fastr::Application`: recorded, and said again by each instance.
  module ClassWords
    WORDS = (Words.public_instance_methods(false) - %i[configure]).freeze
    private_constant :WORDS

    (WORDS + %i[configure]).each do |word|
      define_method(word) do |*arguments, **options, &block|
        recorded_words << [word, arguments, options, block, Location.of_caller]
        nil
      end
    end

    # Says the recorded words to an instance.
    # @return [void]
    # @api private
    def replay_words(app)
      superclass.replay_words(app) if superclass.respond_to?(:replay_words)
      recorded_words.each do |word, arguments, options, block, location|
        Location.standing_at(location) { app.public_send(word, *arguments, **options, &block) }
      end
    end

    private

    def recorded_words
      @recorded_words ||= []
    end
  end
  private_constant :ClassWords
end
