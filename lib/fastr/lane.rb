# frozen_string_literal: true

module Fastr
  # A fiber that runs the dispatcher's loop and the work the loop finds, with the request it works for at the moment.
  # Lanes are reused; nothing of one request is left in them for the next.
  # @api private
  class Lane < Fiber
    # @return [Request, nil] the request that the running code belongs to
    attr_accessor :request

    # Fiber storage (Ruby 3.2) is inherited by default: from whatever request's code made the new lane.
    STORES = Fiber.respond_to?(:[])
    OPTIONS = STORES ? { blocking: false, storage: nil } : { blocking: false }
    # What makes a lane begin with a copy of its maker's storage, as Fiber.schedule promises.
    INHERITING = STORES ? { storage: true } : {}
    private_constant :STORES, :OPTIONS

    # @param dispatcher [Dispatcher]
    # @param work [#call, nil] what to do before the loop
    # @param options [Hash] of Fiber.new, beside those every lane has
    def initialize(dispatcher, work = nil, **options)
      @thread = Thread.current
      super(**OPTIONS, **options) { dispatcher.loop_in(self, work) }
    end

    # Forgets the request and what its code left in fiber-local variables (`Thread.current[:name]`) and fiber storage.
    # @return [void]
    def clear
      @request = nil
      names = @thread.keys
      names.each { |name| @thread[name] = nil } unless names.empty?
      storage&.each_key { |name| Fiber[name] = nil } if STORES
    end
  end
end
