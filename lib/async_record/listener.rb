# frozen_string_literal: true

# Owns notifications: PostgreSQL's LISTEN and NOTIFY. A listener has a connection of its own beside the pool and makes
# it anew when it is lost. Refuses databases that have nothing like it: polling would be something else.

# Notifications between programs.
module AsyncRecord
  class << self
    # Calls the block for each notification on the channels, one after the other, in a fiber that may wait. A connection
    # that is lost is made anew; notifications sent meanwhile are lost, and {Listener#on_reconnected} says so.
    #
    # @example
    #   listener = AsyncRecord.listen("jobs") { |channel, payload| Job.run(payload) }
    #   listener.on_reconnected { Job.run_all_waiting }
    #   listener.stop
    # @param channels [Array<String, Symbol>]
    # @param database [Database, Symbol, Class]
    # @yieldparam channel [String]
    # @yieldparam payload [String]
    # @return [Listener]
    # @raise [NotSupported] on anything but PostgreSQL
    def listen(*channels, database: PRIMARY, &block)
      raise ArgumentError, "listen needs the name of a channel" if channels.empty?
      raise ArgumentError, "listen needs a block, which gets the channel and the payload" unless block

      Listener.new(Listener.direct(resolve(database)), channels.map(&:to_s), block).start
    end

    # Sends a notification. Inside a transaction it is sent when that commits.
    #
    # @example
    #   AsyncRecord.notify("jobs", job.id)
    # @param payload [#to_s] up to 8000 bytes
    # @return [nil, Pending]
    # @raise [NotSupported] on anything but PostgreSQL
    def notify(channel, payload = "", database: PRIMARY, &block)
      database = Listener.able(resolve(database))
      work = lambda do
        database.await("SELECT pg_notify($1, $2)", [channel.to_s, payload.to_s])
        nil
      end
      block ? Pending.spawn(block, &work) : work.call
    end
  end

  # What {AsyncRecord.listen} returns.
  class Listener
    # @param database [Database]
    # @return [Database]
    # @raise [NotSupported]
    # @api private
    def self.able(database)
      return database if database.dialect.name == :postgresql

      raise NotSupported, "only PostgreSQL has LISTEN and NOTIFY; #{database.inspect} has nothing like it. " \
                          "Within one process Fastr::Reactor::Channel does it; a table can be asked now and then"
    end

    # @param database [Database]
    # @return [Database] whose connections stay what they are
    # @raise [NotSupported]
    # @api private
    def self.direct(database)
      return able(database) unless database.pooler?

      raise NotSupported, "behind pgbouncer a connection belongs to nobody for longer than a transaction, so that " \
                          "nothing can be heard on it: listen on a database whose URL names the server directly " \
                          "(AsyncRecord.connect(url, name: :direct), listen(…, database: :direct))"
    end

    # @return [Array<String>]
    attr_reader :channels

    # @api private
    def initialize(database, channels, block)
      @database = database
      @channels = channels
      @block = block
      @state = :starting
      @ready = Thread::Queue.new
    end

    # It belongs to no request, whoever starts it.
    # @api private
    def start
      dispatcher = Fastr::Dispatcher.instance
      dispatcher.ensure_running
      dispatcher.next_tick(-> { Context.outside { run } }, nil)
      self
    end

    # Waits until the server has been told: what is notified from now on arrives.
    #
    # @return [self]
    # @raise [ConnectionError]
    def wait
      @ready.pop
      @ready.close
      raise @error if @error

      self
    end

    # @yield when a lost connection is there again; what was notified meanwhile is lost
    # @return [self]
    def on_reconnected(&block)
      @on_reconnected = block
      self
    end

    # @yieldparam error [StandardError] that ended the listening, or that the block raised; without this it goes to
    #   {AsyncRecord.on_error}, else to the reactor's error handler
    # @return [self]
    def on_error(&block)
      @on_error = block
      self
    end
    alias errback on_error

    # Listens no more and gives the connection back.
    # @return [self]
    def stop
      @state = :stopped
      @subscription&.close
      self
    end

    # @return [Boolean]
    def listening?
      @state == :listening
    end

    # @return [String]
    def inspect
      "#<#{self.class} #{channels.join(", ")} #{@state}>"
    end

    private

    def run
      @subscription = @database.complete { |pool, sink| pool.listen(sink, channels) }
      return @subscription.close if @state == :stopped

      @state = :listening
      @ready << true
      receive
    rescue Fastr::CancelledError
      nil # the reactor stops
    rescue StandardError => error
      failed(error) unless @state == :stopped
    ensure
      @state = :stopped
      @ready << true unless @ready.closed?
    end

    def receive
      while @state == :listening && (event = following)
        event == :reconnected ? call(@on_reconnected) : call(@block, *event)
      end
    end

    def following
      @database.complete { |_, sink| @subscription.next(sink) }
    end

    # A block that raises must not end the listening.
    def call(block, *arguments)
      block&.call(*arguments)
    rescue StandardError => error
      report(error)
    end

    def failed(error)
      @error = error
      report(error)
    end

    def report(error)
      handler = @on_error || AsyncRecord.error_handler
      handler ? handler.call(error) : Fastr::Dispatcher.next_tick { raise error }
    end
  end
end
