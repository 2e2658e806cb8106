# frozen_string_literal: true

module Fastr
  # The file behind `fastr server -c FILE`: one word a line, each an option of `Fastr.run`. It owns the list of words;
  # an unknown one names file, line and the nearest known word.
  #
  # @example config/server.rb
  #   host "0.0.0.0"
  #   port 8080
  #   shutdown_timeout 10
  #   max_body 50 * 1024 * 1024
  class ServerConfig
    # The options of `Fastr.run`.
    WORDS = %i[host port environment shutdown_timeout quiet request_line header_block header_count chunk_line
               chunk_extensions trailer_block max_body keep_underscores head_timeout keep_alive_timeout body_timeout
               body_rate body_grace write_timeout handler_timeout linger max_connections max_in_flight].freeze

    WORDS.each do |word|
      define_method(word) { |value| @values[word] = value }
    end

    # @param file [String]
    # @return [Hash{Symbol => Object}]
    # @raise [BootError] with file, line and the nearest known word
    def self.read(file)
      raise ConfigurationError, "there is no configuration file #{file}" unless File.file?(file)

      new.read(File.expand_path(file))
    end

    # @api private
    def initialize
      @values = {}
    end

    # @return [Hash{Symbol => Object}]
    # @api private
    def read(file)
      instance_eval(File.read(file, encoding: Encoding::UTF_8), file, 1)
      @values
    rescue NameError => e
      raise BootFailure.of(unknown(e), file)
    rescue *BootFailure::ERRORS => e
      raise BootFailure.of(e, file)
    end

    private

    def unknown(error)
      message = "there is no option #{error.name}.#{Suggestion.for(error.name, WORDS)}"
      ConfigurationError.new(message).tap { |unknown| unknown.set_backtrace(error.backtrace) }
    end
  end
  private_constant :ServerConfig
end
