# frozen_string_literal: true

module Support
  # Makes models for one example and waits for callbacks.
  module Models
    # @return [Class] a model under a constant of that name
    def model(name, database = nil, parent: AsyncRecord::Base, &body)
      klass = Class.new(parent)
      stub_const(name, klass)
      klass.set_connection(database) if database
      klass.class_eval(&body) if body
      klass
    end

    # Calls a method that takes a callback, and waits for the callback.
    # @yieldparam done [Proc] to be called with what the callback got
    # @return [Object, Array]
    def called_back(limit: 5)
      results = Thread::Queue.new
      yield ->(*got) { results << got }
      got = Timeout.timeout(limit) { results.pop }
      got.size > 1 ? got : got.first
    end

    # The same for code that runs on the dispatcher, as a callback does.
    def called_back_in_turn(&block)
      Fastr::Dispatcher.instance.ensure_running
      called_back { |done| Fastr::Dispatcher.next_tick { block.call(done) } }
    end
  end
end

RSpec.configure { |config| config.include Support::Models }
