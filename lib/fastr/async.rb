# frozen_string_literal: true

module Fastr
  # Answers that come later, in the words of 2010 for controllers: `defer_response`, `render_async`, `async_resp`. It
  # owns the choice between the native path and a Rack server's `async.callback`.
  module Async
    # Answers in pieces: when the action has returned, the headers leave, then the block runs.
    # @param code [Integer] the status
    # @param headers [Hash{String => String}] besides those of `self.headers`
    # @yieldparam response [DeferredResponse]
    # @return [Array] `[-1, {}, []]`
    def defer_response(code = 200, headers = {}, &block)
      headers = fastr_own_headers(headers)
      callback = env_callback
      callback ? defer_on_rack(callback, code, headers, block) : defer_natively(code, headers, block)
      render_async
    end

    # Tells the server that the answer comes later; also usable as an after filter.
    # @return [Array] `[-1, {}, []]`
    def render_async(_response = nil)
      [-1, {}, []].freeze
    end

    # Gives the answer that `render_async` promised.
    # @yieldreturn [Array] a Rack response, or anything an action may return
    # @return [void]
    # @example
    #   Fastr::Reactor.add_timer(1) { async_resp { render(:text, "later") } }
    #   render_async
    def async_resp
      response = begin
        fastr_finish(yield)
      rescue StandardError, ScriptError, SystemStackError => e
        ErrorLog.write(e, request)
        ErrorResponse.for(e, request)
      end
      callback = env_callback
      callback ? callback.call(response) : Response.deliver(request, *response)
      nil
    rescue DisconnectedError
      nil
    end

    private

    def env_callback
      request.async_callback
    end

    def defer_on_rack(callback, code, headers, block)
      response = DeferredResponse.new
      Dispatcher.next_tick do
        callback.call([code, headers, response])
        response.guard { Callable.call(block, response) }
      end
    end

    def defer_natively(code, headers, block)
      response = DeferredResponse.new(NativeOutput.new(request, code, headers), block)
      return @fastr_deferred = response if @fastr_acting && @fastr_deferred.nil?

      Dispatcher.next_tick { response.begin }
    end
  end
end
