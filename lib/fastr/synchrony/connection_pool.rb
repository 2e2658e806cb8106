# frozen_string_literal: true

module Fastr
  module Reactor
    module Synchrony
      # Shares a few connections, of whatever kind, among many fibers: each has one for the time of a call, others wait
      # in line. The pool answers the public methods of the first connection; a method that a connection makes up when
      # it is called can be reached by {#execute}. AsyncRecord needs none of this, it has a pool of its own.
      # @example
      #   pool = EM::Synchrony::ConnectionPool.new(size: 4) { Client.connect("127.0.0.1") }
      #   pool.get("name")                                  # waits for a connection and for the answer
      #   pool.execute(false) { |connection| connection.get("a") + connection.get("b") }
      class ConnectionPool
        # A connection, how many running calls of its fiber use it, and how many deferrables.
        Lease = Struct.new(:connection, :calls, :deferred) do
          def over?
            calls.zero? && deferred.zero?
          end
        end
        private_constant :Lease

        # @param options [Hash] `:size`, how many connections
        # @yieldparam number [Integer] counts from 0
        # @yieldreturn [Object] a new connection
        def initialize(options, &connect)
          @size = options.fetch(:size)
          @available = Array.new(@size, &connect)
          @leases = {}.compare_by_identity
          @waiting = []
          forward_methods(@available.first)
        end

        # Gives the block a connection that nobody else uses meanwhile. A fiber that has one already gets the same.
        # @param async [Boolean] whether the connection is kept when the block ends, until {#release}
        # @yieldparam connection [Object]
        # @return [Object] what the block returns
        def execute(async)
          fiber = Fiber.current
          connection = acquire(fiber)
          kept = async
          yield connection
        rescue StandardError
          kept = false
          raise
        ensure
          release(fiber) unless kept || connection.nil?
        end

        # Takes a connection, waiting in line for it.
        # @param fiber [Fiber]
        # @return [Object]
        def acquire(fiber)
          lease = @leases[fiber] ||= Lease.new(@available.pop || wait_in_line, 0, 0)
          lease.calls += 1
          lease.connection
        end

        # Gives a fiber's connection back, or to the next in line.
        # @param fiber [Fiber]
        # @return [void]
        def release(fiber)
          lease = @leases[fiber]
          return if lease.nil? || (lease.calls -= 1).positive?

          @leases.delete(fiber)
          pass_on(lease.connection) if lease.over?
        end

        # @return [Hash{Symbol => Integer}] `:available`, `:reserved`, `:pending`
        def pool_status
          { available: @available.size, reserved: @size - @available.size, pending: @waiting.size }
        end

        private

        # Who is interrupted while waiting has left the line; what came meanwhile goes to the next.
        def wait_in_line
          got = nil
          place = nil
          Synchrony.until_called do |done|
            place = lambda do |connection|
              got = connection
              done.call
            end
            @waiting << place
          end
          got
        rescue Exception # rubocop:disable Lint/RescueException -- it is passed on
          @waiting.delete(place)
          pass_on(got) if got
          raise
        end

        def pass_on(connection)
          place = @waiting.shift
          place ? place.call(connection) : @available.push(connection)
        end

        def forward_methods(connection)
          names = connection.public_methods - Object.instance_methods - public_methods(false)
          names.each do |name|
            define_singleton_method(name) { |*arguments, **options, &block| forward(name, arguments, options, block) }
          end
        end

        # A call that returns a deferrable, by em-synchrony's custom one whose name begins with "a", keeps the
        # connection until that is settled; its fiber goes on, and may want another one.
        def forward(name, arguments, options, block)
          execute(false) do |connection|
            lease = @leases[Fiber.current]
            result = connection.public_send(name, *arguments, **options, &block)
            keep(lease, result) if name.start_with?("a") && deferrable?(result)
            result
          end
        end

        def keep(lease, deferrable)
          lease.deferred += 1
          settled = false
          done = proc do
            next if settled

            settled = true
            lease.deferred -= 1
            pass_on(lease.connection) if lease.over?
          end
          deferrable.callback(&done)
          deferrable.errback(&done)
        end

        def deferrable?(result)
          result.respond_to?(:callback) && result.respond_to?(:errback)
        end
      end
    end
  end
end
