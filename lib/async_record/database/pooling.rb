# frozen_string_literal: true

# Owns one native pool: opened on first use, closed, and opened anew in a forked child. A database has one, and each of
# its replicas. Refuses to know what runs on it.

require "fastr/completion"
require "fastr/fork"
require "fastr/native_loader"
require_relative "url_options"

module AsyncRecord
  # The pool of one URL.
  module Pooling
    # @return [String]
    attr_reader :url

    # A forked child has a dispatcher of its own, which tells that this is another process without a system call.
    #
    # @return [AsyncRecord::Pool] the native pool of this process
    # @api private
    def pool
      return @pool if @pool && own?

      @mutex.synchronize do
        next @pool if @pool && own?

        connect
        @dispatcher = Fastr::Dispatcher.instance
        @pool = Pool.new(@place, @options)
      end
    end

    # @return [Boolean] whether a pooler stands before the server: every transaction may run on another connection
    # @api private
    def pooler?
      UrlOptions.pooler?(url)
    end

    # @return [String] the URL without its password
    # @api private
    def masked_url
      url.sub(%r{(://[^:/@]*):[^@/]*@}, '\1:…@')
    end

    # What the driver can be told, in the driver's own words.
    OPTIONS = %i[size min_size max_waiting pool_timeout connect_timeout idle_timeout max_lifetime busy_timeout
                 idle_in_transaction commit_timeout timeout].freeze
    # What the same is called elsewhere.
    OTHER_WORDS = { pool: :size, max_connections: :size, checkout_timeout: :pool_timeout,
                    statement_timeout: :timeout, query_timeout: :timeout }.freeze
    private_constant :OPTIONS, :OTHER_WORDS

    private

    def check(options)
      unknown = options.keys.find { |key| !OPTIONS.include?(key) } || return
      near = OTHER_WORDS[unknown]
      near ||= DidYouMean::SpellChecker.new(dictionary: OPTIONS).correct(unknown.to_s).first if defined?(DidYouMean)
      advice = near ? "did you mean #{near}:?" : "it has #{OPTIONS.join(', ')}; places belong into the URL"
      raise ConfigurationError, "connect has no option #{unknown}:; #{advice}"
    end

    def prepare_pool(url, options)
      check(options)
      @url = url.to_s.dup.freeze
      @place, in_url = UrlOptions.divide(@url)
      @options = in_url.merge(options).freeze
      @mutex = Mutex.new
    end

    # What runs is stopped, which takes a moment. A thread of its own waits for that, so that a fiber's loop goes on
    # meanwhile and whoever waits can be interrupted.
    def close_pool
      pool = @mutex.synchronize do
        closing = @pool if own?
        @pool = nil
        closing
      end
      Thread.new { pool.close }.join if pool
    end

    # @return [Boolean] whether the pool is this process's, not one that came through a fork
    def own?
      @dispatcher.equal?(Fastr::Dispatcher.instance)
    end
  end
  private_constant :Pooling
end
