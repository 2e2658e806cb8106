# frozen_string_literal: true

module Fastr
  # A fiber that runs the dispatcher's loop and the work the loop finds, with the request it works for at the moment.
  # Lanes are reused; nothing of one request is left in them for the next.
  # @api private
  class Lane < Fiber
    # @return [Request, nil] the request that the running code belongs to
    attr_accessor :request

    # @param dispatcher [Dispatcher]
    # @param work [#call, nil] what to do before the loop
    def initialize(dispatcher, work = nil)
      super(blocking: false) { dispatcher.loop_in(self, work) }
    end

    # Forgets the request and what its code left in fiber-local variables (`Thread.current[:name]`).
    # @return [void]
    def clear
      @request = nil
      thread = Thread.current
      names = thread.keys
      names.each { |name| thread[name] = nil } unless names.empty?
    end
  end
end
