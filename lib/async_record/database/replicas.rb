# frozen_string_literal: true

# Owns the copies of a database that are read from: which one is next, which are down and when to ask them again, and
# for how long whoever wrote reads from the primary. Refuses writes, locks and transactions: those are the primary's.

# Reading from the primary on purpose.
module AsyncRecord
  class << self
    # Reads from the primary within a block, as everything in a transaction does by itself.
    #
    # @example
    #   AsyncRecord.using_primary { Account.find(1) }
    # @return [Object] what the block returns
    def using_primary(&block)
      Context.with(Replicas, :primary, &block)
    end
  end

  # The pool of one replica.
  class Replica
    include Pooling

    # Seconds until a replica that failed is asked again; doubled with each failure up to the second number.
    BACKOFF = 0.5
    LONGEST = 30
    private_constant :BACKOFF, :LONGEST

    # @return [Integer] statements that it has answered
    attr_reader :answered
    # @return [Integer] how often it could not be reached
    attr_reader :failures

    def initialize(url, options)
      prepare_pool(url, options)
      @answered = @failures = @in_a_row = 0
      @down_until = nil
    end

    # Nothing is opened before the first statement.
    # @return [self]
    def connect
      self
    end

    # @return [Boolean] whether it may be asked: it answers, or it is time to see whether it does again
    def ready?(now)
      @down_until.nil? || now >= @down_until
    end

    # Whoever asks one that was down is the only one to do so.
    def claim(now)
      @down_until = now + BACKOFF if @down_until
    end

    # @return [void]
    def up
      @answered += 1
      @in_a_row = 0
      @down_until = nil
    end

    # @return [void]
    def down(now)
      @failures += 1
      @in_a_row += 1
      @down_until = now + ([BACKOFF * (2**(@in_a_row - 1)), LONGEST].min * rand(0.8..1.2))
    end

    # @return [Hash{Symbol => Object}]
    def stats
      (@pool ? pool.stats : {}).merge(url: masked_url, healthy: @down_until.nil?, answered: answered,
                                      failures: failures)
    end

    # @return [void]
    def close
      close_pool
    end
  end
  private_constant :Replica

  # The replicas of one database.
  class Replicas
    # Seconds for which whoever wrote reads from the primary, unless `sticky:` says otherwise. Replicas are usually
    # milliseconds behind; a page that was sent to after a form is asked for within seconds.
    STICKY = 5
    READING = /\A\s*(?:select|with|values|table)\b/i
    # What begins like a read and is none: locks, results into tables, data-changing WITH.
    LOCKING = /\bfor\s+(?:no\s+key\s+)?(?:update|share|key\s+share)\b|\block\s+in\s+share\s+mode\b|
               \b(?:into|insert|update|delete|merge)\b|\b(?:nextval|setval|get_lock|release_lock|pg_advisory\w+|
               pg_try_advisory\w+|pg_notify|set_config)\s*\(/ix
    # What replicas say to a statement that is none of theirs, or that replaying the primary's writes has stopped.
    ELSEWHERE = ["25006", "40001", 1290, 1836, 8].freeze
    private_constant :READING, :LOCKING, :ELSEWHERE

    # @param sql [String]
    # @return [Boolean] whether a statement surely changes nothing
    def self.reading?(sql)
      READING.match?(sql) && !LOCKING.match?(sql)
    end

    # @param urls [Array<String>]
    # @param sticky [Numeric] seconds
    # @param options [Hash] for the driver
    def initialize(urls, sticky:, **options)
      @replicas = Array(urls).map { |url| Replica.new(url, options) }
      @sticky = sticky
      @turn = -1
      @requests = ObjectSpace::WeakMap.new
      Context.allow_notes
    end

    # Runs a statement that reads.
    #
    # @yieldparam pool [AsyncRecord::Pool, nil] of a replica; nil means that the primary has to do it
    # @return [Object] what the block returns
    def read
      while (replica = choose)
        begin
          return yield(replica.pool).tap { replica.up }
        rescue ConnectionError
          replica.down(now)
        rescue QueryError => error
          replica.up
          raise unless ELSEWHERE.include?(error.code)

          break
        end
      end
      yield nil
    end

    # @return [Boolean] whether the running code reads from the primary: it says so, or wrote a moment ago
    def primary?(context)
      return true if context[self.class]

      request = Fastr::Dispatcher.current_request
      written = request ? @requests[request] : Context.notes&.[](self)
      !written.nil? && written > milliseconds
    end

    # The running code has written. Its request remembers that, else its fiber and what comes of it.
    # @return [void]
    def wrote
      return unless @sticky.positive?

      # An Integer: the map keeps nothing alive, a Float might be an object.
      until_when = milliseconds + (@sticky * 1000).to_i
      request = Fastr::Dispatcher.current_request
      request ? @requests[request] = until_when : Context.notes![self] = until_when
    end

    # @return [Array<Hash>]
    def stats
      @replicas.map(&:stats)
    end

    # @return [void]
    def close
      @replicas.each(&:close)
    end

    private

    # In turn, those that are down left out.
    def choose
      now = self.now
      ready = @replicas.select { |replica| replica.ready?(now) }
      return if ready.empty?

      ready[(@turn += 1) % ready.size].tap { |replica| replica.claim(now) }
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def milliseconds
      Process.clock_gettime(Process::CLOCK_MONOTONIC, :millisecond)
    end
  end
  private_constant :Replicas
end
