# frozen_string_literal: true

# Owns the cutting of an SQL file: into its way up and its way down, and into statements. A statement stays as it was
# written. Semicolons in strings, comments, dollar quotes and in the bodies of triggers and routines end nothing.

require "strscan"

module AsyncRecord
  class Migration
    # SQL files as statements.
    module Sources
      DOWN = /^--[ \t]*(?:migrate:)?down\b[^\n]*$/i
      UP = /^--[ \t]*(?:migrate:)?up\b[^\n]*$/i
      NO_TRANSACTION = /^--[ \t]*(?:no[_ ]transaction|migrate:up[^\n]*transaction:[ \t]*false)/i
      STRING = /'(?:[^']|'')*'/m
      ESCAPE_STRING = /'(?:[^'\\]|''|\\.)*'/m
      NAME = /"(?:[^"]|"")*"|`(?:[^`]|``)*`/m
      LINE_COMMENT = /--[^\n]*/
      BLOCK_COMMENT = %r{/\*.*?\*/}m
      DOLLAR = /\$(?:[A-Za-z_]\w*)?\$/
      # Only these have a body with semicolons.
      ROUTINE = /\ACREATE\s+(?:OR\s+REPLACE\s+)?(?:DEFINER\s*=\s*\S+\s+)?
                 (?:TEMP(?:ORARY)?\s+|CONSTRAINT\s+|AGGREGATE\s+)?(?:TRIGGER|PROCEDURE|FUNCTION|EVENT)\b/xi
      # END of these is no END of a body.
      LOOPS = /\s+(?:IF|LOOP|WHILE|REPEAT|FOR)\b/i
      private_constant :DOWN, :UP, :NO_TRANSACTION, :STRING, :ESCAPE_STRING, :NAME, :LINE_COMMENT, :BLOCK_COMMENT,
                       :DOLLAR, :ROUTINE, :LOOPS

      module_function

      # @param text [String] a file with an optional line `-- down`
      # @return [Array(String, String)] the way up and the way down (nil when the file has none)
      def halves(text)
        up, down = text.split(DOWN, 2)
        [up.sub(UP, ""), down]
      end

      # @return [Boolean]
      def transaction?(text)
        !text.match?(NO_TRANSACTION)
      end

      # @param script [String]
      # @param dialect [Dialect] says whether a backslash escapes inside a string
      # @return [Array<String>]
      # @raise [MigrationError] for a command of the mysql client
      def statements(script, dialect)
        raise MigrationError, "SQL must be valid UTF-8 text" unless script.valid_encoding?

        Cutter.new(script, dialect.backslash_escapes? ? ESCAPE_STRING : STRING).statements
      end

      # Goes through the text once.
      class Cutter
        def initialize(text, string)
          @scanner = StringScanner.new(text)
          @string = string
          @statement = +""
          @statements = []
          @depth = 0
        end

        # @return [Array<String>]
        def statements
          step until @scanner.eos?
          cut
          @statements
        end

        private

        def step
          return cut if @depth.zero? && @scanner.skip(/;/)

          piece = @scanner.scan(/\s+/) || comment || quoted || word || @scanner.getch
          @statement << piece unless @statement.empty? && piece.match?(/\A(?:\s|--)/)
        end

        def comment
          @scanner.scan(LINE_COMMENT) || @scanner.scan(BLOCK_COMMENT)
        end

        def quoted
          return @scanner.scan(ESCAPE_STRING) if @statement.match?(/\bE\z/i) && @scanner.check(/'/)

          @scanner.scan(@string) || @scanner.scan(NAME) || dollar
        end

        def dollar
          tag = @scanner.scan(DOLLAR)
          return unless tag

          tag + (@scanner.scan_until(/#{Regexp.escape(tag)}/) || @scanner.scan(/.*/m))
        end

        def word
          word = @scanner.scan(/\w+/)
          refuse_delimiter if @statement.empty? && word&.casecmp?("DELIMITER")
          nest(word.upcase) if word && @statement.match?(ROUTINE)
          word
        end

        def nest(word)
          case word
          when "BEGIN", "CASE" then @depth += 1 unless @statement.match?(/\bEND\s+\z/i)
          when "END" then @depth -= 1 unless @depth.zero? || @scanner.check(LOOPS)
          end
        end

        def refuse_delimiter
          raise MigrationError, "DELIMITER is a command of the mysql client, not SQL; leave it out: the bodies of " \
                                "triggers and routines are recognised"
        end

        def cut
          text = @statement.strip
          @statements << text unless text.empty?
          @statement = +""
          @depth = 0
        end
      end
      private_constant :Cutter
    end
    private_constant :Sources
  end
end
