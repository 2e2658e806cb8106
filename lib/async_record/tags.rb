# frozen_string_literal: true

# Owns the comments behind statements that say whose they are, for the database's own logs. Opt-in, for a block. Refuses
# every character with a meaning in SQL: values are percent-encoded, so that none can end the comment.

# Comments for the database's log.
module AsyncRecord
  class << self
    # Marks the statements of a block for the database's log: `… /*action:index,controller:posts*/`. Each distinct text
    # is a statement of its own to the database, so tags should have few values: never an id.
    #
    # @example
    #   AsyncRecord.tag(controller: "posts", action: "index") { Post.count }
    # @param tags [Hash{Symbol => Object}] nil takes one back
    # @return [Object] what the block returns
    def tag(**tags, &block)
      Context.with(Tags, Tags.merge(Context[Tags], tags), &block)
    end
  end

  # The tags of the running code.
  class Tags
    KEY = /\A[a-z_]\w*\z/i
    UNSAFE = %r{[^\w\-./ ]}
    private_constant :KEY, :UNSAFE

    # @return [Tags]
    def self.merge(outer, tags)
      new((outer ? outer.pairs : {}).merge(tags).compact)
    end

    # @return [Hash{Symbol => Object}]
    attr_reader :pairs

    def initialize(pairs)
      @pairs = pairs
      text = pairs.map { |key, value| "#{key_text(key)}:#{value_text(value)}" }.join(",")
      @comment = pairs.empty? ? "" : " /*#{text}*/"
    end

    # @return [String]
    def append(sql)
      "#{sql}#{@comment}"
    end

    private

    def key_text(key)
      return key.to_s if KEY.match?(key)

      raise ArgumentError, "a tag's name consists of letters, digits and underscores, not #{key.inspect}"
    end

    def value_text(value)
      value.to_s.b.gsub(UNSAFE) { |character| format("%%%02X", character.ord) }.force_encoding(Encoding::US_ASCII)
    end
  end
  private_constant :Tags
end
