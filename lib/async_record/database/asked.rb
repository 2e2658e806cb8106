# frozen_string_literal: true

# Owns one statement that nothing waits for: how it is handed to the driver, and what becomes of its result. One object
# instead of two closures and what they hold. Refuses to know who gets the value.

module AsyncRecord
  # What a {Pending} asks a database.
  class Asked
    # @param database [Database]
    # @param statement [Statement]
    # @param options [Hash] the driver's
    # @param receiver [Object] makes the value of the result
    # @param method [Symbol] by this method
    def initialize(database, statement, options, receiver, method)
      @database = database
      @statement = statement
      @options = options
      @receiver = receiver
      @method = method
      @started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # @param sink [Integer]
    # @return [void]
    def submit(sink)
      @database.pool.query(sink, @statement.sql, @statement.binds, @options)
    end

    # @param result [AsyncRecord::Rows, String, Exception]
    # @return [Object] the value
    # @raise [StandardError] what the statement ended with
    def finish(result)
      @database.refuse(result, @statement.binds, @started) if result.is_a?(Exception)
      @receiver.__send__(@method, result)
    end
  end
  private_constant :Asked
end
