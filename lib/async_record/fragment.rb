# frozen_string_literal: true

# Owns the reading of hand-written SQL: where its placeholders are. It skips what only looks like a placeholder:
# strings, quoted names, comments, dollar quotes, casts (`::`), and `??`, which is a literal `?`.
# Refuses to understand SQL any further, and refuses text that could break out of the parentheses it is put into.

require "strscan"

module AsyncRecord
  # Splits SQL text at its placeholders.
  class Fragment
    CACHE_LIMIT = 1000
    PLAIN = %r{[^'"`?:$\-/;()\w]+}
    WORD = /\w+(?:\$\w*)*/
    STRING = /'(?:[^']|'')*'/
    ESCAPE_STRING = /'(?:[^'\\]|''|\\.)*'/m
    NAMES = /"(?:[^"]|"")*"|`(?:[^`]|``)*`/
    LINE_COMMENT = /--[^\n]*/
    DOLLAR_OPEN = /\$(?:[A-Za-z_]\w*)?\$/
    private_constant :CACHE_LIMIT, :PLAIN, :WORD, :STRING, :ESCAPE_STRING, :NAMES, :LINE_COMMENT, :DOLLAR_OPEN

    # @return [Array<String, Symbol, true>] text, names of named binds, and true for each `?`
    attr_reader :pieces
    # @return [Integer] how many `?` there are
    attr_reader :positional

    @caches = { true => {}, false => {} }

    class << self
      # @param text [String]
      # @param dialect [Dialect] says whether a backslash escapes inside a string
      # @return [Fragment] frozen; the same text is read once
      # @raise [FragmentError]
      def parse(text, dialect)
        cache = @caches[dialect.backslash_escapes?]
        cache[text] || begin
          cache.clear if cache.size >= CACHE_LIMIT
          cache[text.dup.freeze] = new(text, backslashes: dialect.backslash_escapes?)
        end
      end
    end

    # @param text [String]
    # @param backslashes [Boolean] whether a backslash escapes inside every string
    def initialize(text, backslashes: false)
      unless text.valid_encoding? && (text.encoding == Encoding::UTF_8 || text.ascii_only?)
        raise FragmentError, "SQL text must be valid UTF-8"
      end

      @scanner = StringScanner.new(text)
      @string = backslashes ? ESCAPE_STRING : STRING
      @pieces = []
      @buffer = +""
      @depth = 0
      read
      @scanner = @buffer = nil
      finish
    end

    # @return [Array<Symbol>]
    def names
      @pieces.grep(Symbol)
    end

    private

    def finish
      @pieces = @pieces.each { |piece| piece.freeze if piece.is_a?(String) }.freeze
      @positional = @pieces.count(true)
      freeze
    end

    def read
      step until @scanner.eos?
      refuse("unbalanced parentheses") unless @depth.zero?
      flush
    end

    def step
      plain = @scanner.scan(PLAIN)
      return @buffer << plain if plain

      word = @scanner.scan(WORD)
      word ? read_word(word) : read_special
    end

    # E'…' of PostgreSQL has backslash escapes; every other string has only doubled quotes.
    def read_word(word)
      @buffer << word
      return unless word.casecmp?("e") && @scanner.check(/'/)

      @buffer << (@scanner.scan(ESCAPE_STRING) || refuse("an unterminated string"))
    end

    def read_special
      case @scanner.peek(1)
      when "'" then take(@string, "an unterminated string")
      when '"', "`" then take(NAMES, "an unterminated quoted name")
      when "-", "/" then read_comment
      when "$" then @scanner.check(DOLLAR_OPEN) ? take_dollar_quote : copy
      when "?" then read_question
      when ":" then read_colon
      when ";" then read_semicolon
      else read_parenthesis
      end
    end

    # Comments are dropped: one must not swallow what follows the fragment.
    def read_comment
      return @buffer << " " if @scanner.skip(LINE_COMMENT)

      @scanner.check(%r{/\*}) ? skip_block_comment : copy
    end

    def read_question
      @scanner.getch
      @scanner.skip(/\?/) ? @buffer << "?" : push(true)
    end

    def read_colon
      return @buffer << @scanner.scan(/::+|:=/) if @scanner.check(/::|:=/)

      name = @scanner.scan(/:[A-Za-z_]\w*/)
      return copy unless name

      # "a:b" is a slice or a path, not a bind.
      @buffer.match?(/\w\z/) ? @buffer << name : push(name[1..].to_sym)
    end

    def read_semicolon
      @scanner.check(/;\s*\z/) ? @scanner.terminate : refuse("a semicolon; one statement at a time")
    end

    def read_parenthesis
      character = copy
      @depth += { "(" => 1, ")" => -1 }.fetch(character[-1], 0)
      refuse("unbalanced parentheses") if @depth.negative?
    end

    def take(pattern, problem)
      @buffer << (@scanner.scan(pattern) || refuse(problem))
    end

    def take_dollar_quote
      tag = @scanner.scan(DOLLAR_OPEN)
      body = @scanner.scan_until(/#{Regexp.escape(tag)}/) || refuse("an unterminated dollar quote")
      @buffer << tag << body
    end

    # They nest in PostgreSQL.
    def skip_block_comment
      depth = 0
      loop do
        mark = @scanner.scan_until(%r{/\*|\*/}) || refuse("an unterminated comment")
        depth += mark.end_with?("/*") ? 1 : -1
        break @buffer << " " if depth.zero?
      end
    end

    def copy
      @buffer << @scanner.getch
    end

    def push(piece)
      flush
      @pieces << piece
    end

    def flush
      return if @buffer.nil? || @buffer.empty?

      @pieces << @buffer
      @buffer = +""
    end

    def refuse(problem)
      raise FragmentError, "this SQL has #{problem}: #{@scanner.string[0, 120].inspect}"
    end
  end
  private_constant :Fragment
end
