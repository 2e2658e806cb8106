# frozen_string_literal: true

# Owns what stands behind the question mark of a database URL: which options are the pool's, on every kind of database,
# which are the driver's, and which are none. Refuses to connect and to read what the driver's options mean.

require "uri"

module AsyncRecord
  # Divides a URL's options.
  module UrlOptions
    # The pool's, as `connect` takes them.
    COUNTS = %i[size min_size max_waiting].freeze
    SECONDS = %i[pool_timeout connect_timeout idle_timeout max_lifetime busy_timeout idle_in_transaction commit_timeout
                 timeout].freeze
    # Those for which there may be no limit.
    ENDLESS = %i[idle_timeout max_lifetime commit_timeout].freeze
    # Rails' words, which stand in many a DATABASE_URL.
    SAME = { "pool" => "size", "checkout_timeout" => "pool_timeout" }.freeze
    # What each driver reads.
    DRIVERS = {
      sqlite: %w[mode],
      postgresql: %w[host hostaddr port user password dbname application_name sslmode sslrootcert sslcert sslkey
                     statement_timeout lock_timeout idle_in_transaction_session_timeout search_path options
                     prepared_statements pgbouncer client_encoding encoding channel_binding],
      mysql: %w[ssl_mode sslmode ssl_ca sslca ssl_cert sslcert ssl_key sslkey socket charset encoding collation sql_mode
                strict]
    }.freeze
    # What people bring from elsewhere, and what it is called here.
    MEANT = {
      sqlite: { "statement_timeout" => "timeout", "query_timeout" => "timeout", "max_connections" => "size" },
      postgresql: { "ssl_mode" => "sslmode", "ssl_ca" => "sslrootcert", "schema" => "search_path",
                    "query_timeout" => "timeout", "max_connections" => "size" },
      mysql: { "sslrootcert" => "ssl_ca", "statement_timeout" => "timeout", "query_timeout" => "timeout",
               "max_connections" => "size" }
    }.freeze
    private_constant :COUNTS, :SECONDS, :ENDLESS, :SAME, :DRIVERS, :MEANT

    class << self
      # @param url [String]
      # @return [Array(String, Hash{Symbol => Numeric, nil})] what the driver reads, and the pool's options
      # @raise [ConfigurationError] for an option that nobody knows, and for a value that is no number
      def divide(url)
        place, mark, query = url.partition("?")
        return [url, {}] if mark.empty?

        kind = kind_of(url)
        rest, ours = query.split("&").reject(&:empty?).partition { |option| driver?(kind, name_of(option)) }
        options = ours.to_h { |option| own(kind, option) }
        [rest.empty? ? place : "#{place}?#{rest.join('&')}", options]
      end

      # @return [Boolean] whether the URL says that a pooler stands before the server, which mixes connections
      def pooler?(url)
        url.partition("?").last.split("&").any? { |option| /\Apgbouncer=(?:true|1|yes|on)\z/i.match?(option) }
      end

      # @return [Array<String>] the names that a URL of this kind may have
      def known(kind)
        DRIVERS.fetch(kind) + (COUNTS + SECONDS).map(&:name) + SAME.keys
      end

      private

      def kind_of(url)
        case url
        when /\Apostgres/i then :postgresql
        when /\A(?:mysql|mariadb)/i then :mysql
        else :sqlite
        end
      end

      def name_of(option)
        URI.decode_www_form_component(option.partition("=").first).tr("-", "_")
      end

      def driver?(kind, name)
        DRIVERS.fetch(kind).include?(name)
      end

      def own(kind, option)
        written = name_of(option)
        name = SAME.fetch(written, written).to_sym
        unknown(kind, written) unless COUNTS.include?(name) || SECONDS.include?(name)
        [name, number(name, written, URI.decode_www_form_component(option.partition("=").last))]
      end

      def number(name, written, text)
        return if ENDLESS.include?(name) && text == "none"

        number = COUNTS.include?(name) ? Integer(text, 10, exception: false) : Float(text, exception: false)
        return number if number && !number.negative?

        what = COUNTS.include?(name) ? "a number" : "a number of seconds"
        what += ", or none" if ENDLESS.include?(name)
        raise ConfigurationError, "#{written}= in the database's URL is #{what}; it is not #{text.inspect}"
      end

      def unknown(kind, name)
        known = known(kind)
        near = MEANT.fetch(kind)[name]
        near ||= DidYouMean::SpellChecker.new(dictionary: known).correct(name).first if defined?(DidYouMean)
        advice = near ? "did you mean #{near}=?" : "there are #{known.join(', ')}"
        raise ConfigurationError, "the database's URL has an option #{name}=, which is not known; #{advice}"
      end
    end
  end
  private_constant :UrlOptions
end
