# frozen_string_literal: true

# Owns what the compiler makes and the driver takes: text and its binds.

module AsyncRecord
  # SQL text and the values for its placeholders.
  class Statement
    # @return [String]
    attr_reader :sql
    # @return [Array]
    attr_reader :binds

    def initialize(sql, binds)
      @sql = sql
      @binds = binds
    end
  end
  private_constant :Statement
end
