# frozen_string_literal: true

# Owns the reading and changing of definitions as SQLite and MySQL keep them, as text: a column's (ColumnText) and a
# table's (TableText). Refuses to understand more than it needs: type, NULL, DEFAULT, COMMENT, REFERENCES; everything
# else is carried over as it stands.

require "strscan"

module AsyncRecord
  class Migration
    # SQL as tokens: strings, quoted names, parentheses with all that is in them, words, commas.
    module Tokens
      STRING = /'(?:[^'\\]|''|\\.)*'/m
      NAME = /"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]/
      GROUP = %r{(?<group>\((?:[^()'"`/-]|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|--[^\n]*\n|/\*.*?\*/|[/-]|
                 \g<group>)*\))}xm
      COMMENT = %r{--[^\n]*(?:\n|\z)|/\*.*?\*/}m
      WORD = /[^\s()'"`\[,]+/
      TOKEN = Regexp.union(STRING, NAME, /,/)
      # Parentheses behind these belong to no word.
      KEYWORDS = /\A(?:CHECK|AS|KEY|UNIQUE|IN|DEFAULT)\z/i
      private_constant :STRING, :NAME, :GROUP, :COMMENT, :WORD, :TOKEN, :KEYWORDS

      module_function

      # @param calls [Boolean] whether a word and the parentheses right behind it are one token, as in `VARCHAR(40)`
      # @return [Array<String>]
      # @raise [MigrationError]
      def of(text, calls: true)
        scanner = StringScanner.new(text)
        tokens = []
        until scanner.eos?
          next if scanner.skip(/\s+/) || scanner.skip(COMMENT)

          token = scanner.scan(TOKEN) || scanner.scan(GROUP) || word(scanner, calls)
          tokens << (token || raise(MigrationError, "cannot read this definition: #{text[0, 120]}"))
        end
        tokens
      end

      def word(scanner, calls)
        word = scanner.scan(WORD)
        calls && word && !word.match?(KEYWORDS) && scanner.check(/\(/) ? "#{word}#{scanner.scan(GROUP)}" : word
      end

      # @return [String] the name without its quotes
      def unquote(token)
        case token[0]
        when '"', "`" then token[1..-2].gsub(token[0] * 2, token[0])
        when "[" then token[1..-2]
        else token
        end
      end

      # @return [String] tokens as text again
      def join(tokens)
        tokens.each_with_object(+"") do |token, text|
          text << " " unless text.empty? || token == ","
          text << token
        end
      end
    end
    private_constant :Tokens

    # A column's definition without its name.
    class ColumnText
      # What ends the type.
      RESERVED = %w[NOT NULL DEFAULT PRIMARY UNIQUE CHECK REFERENCES COLLATE GENERATED AS CONSTRAINT AUTO_INCREMENT
                    COMMENT CHARACTER CHARSET ON INVISIBLE VIRTUAL STORED].freeze
      # What belongs to REFERENCES.
      REFERENCE = /\A(?:ON|DELETE|UPDATE|CASCADE|SET|NULL|DEFAULT|RESTRICT|NO|ACTION|MATCH|SIMPLE|DEFERRABLE|INITIALLY|
                     DEFERRED|IMMEDIATE|\(.*)\z/xmi
      private_constant :RESERVED, :REFERENCE

      # @param text [String]
      def initialize(text)
        @tokens = Tokens.of(text)
      end

      # @param type [String]
      def type=(type)
        @tokens = Tokens.of(type) + @tokens.drop(type_size)
      end

      # @param null [Boolean]
      def null=(null)
        at = index_of("NOT", "NULL")
        @tokens.slice!(at, 2) if at
        at = @tokens.each_index.find { |i| word?(i, "NULL") && !word?(i - 1, "DEFAULT") && !word?(i - 1, "SET") }
        @tokens.delete_at(at) if at
        return if null

        drop_default_null
        @tokens.insert(attributes_at, "NOT", "NULL")
      end

      # @param sql [String, nil] nil for none
      def default=(sql)
        drop_default
        @tokens.insert(attributes_at, "DEFAULT", *Tokens.of(sql)) if sql
      end

      # @param sql [String]
      def comment=(sql)
        at = index_of("COMMENT")
        @tokens.slice!(at, 2) if at
        @tokens.push("COMMENT", sql)
      end

      # @return [Boolean] whether there was a reference
      def remove_reference
        at = index_of("REFERENCES")
        return false unless at

        size = 2
        size += 1 while @tokens[at + size] && reference_at?(at + size)
        @tokens.slice!(at, size)
        @tokens.slice!(at - 2, 2) if at > 1 && word?(at - 2, "CONSTRAINT")
        true
      end

      # @return [Boolean]
      def key?
        !index_of("PRIMARY").nil?
      end

      # @return [String]
      def to_s
        Tokens.join(@tokens)
      end

      private

      def word?(index, word)
        index >= 0 && @tokens[index]&.casecmp?(word)
      end

      def index_of(*words)
        @tokens.each_index.find { |index| words.each_with_index.all? { |word, step| word?(index + step, word) } }
      end

      def type_size
        @tokens.index { |token| RESERVED.include?(token.upcase) } || @tokens.size
      end

      # Behind the type, its character set and its collation.
      def attributes_at
        at = type_size
        loop do
          if word?(at, "CHARACTER") then at += 3
          elsif word?(at, "COLLATE") || word?(at, "CHARSET") then at += 2
          else return at
          end
        end
      end

      def drop_default_null
        at = index_of("DEFAULT", "NULL")
        @tokens.slice!(at, 2) if at
      end

      def drop_default
        at = @tokens.each_index.find { |index| word?(index, "DEFAULT") && !word?(index - 1, "SET") }
        return unless at

        size = %w[+ -].include?(@tokens[at + 1]) ? 3 : 2
        size += 1 if size == 2 && @tokens[at + 1].match?(/\A\w+\z/) && @tokens[at + 2].to_s.start_with?("(")
        @tokens.slice!(at, size)
      end

      def reference_at?(index)
        return word?(index + 1, "DEFERRABLE") if word?(index, "NOT")
        return word?(index - 1, "SET") if word?(index, "NULL") || word?(index, "DEFAULT")

        @tokens[index].match?(REFERENCE)
      end
    end
    private_constant :ColumnText

    # A CREATE TABLE statement.
    class TableText
      CONSTRAINTS = %w[CONSTRAINT PRIMARY UNIQUE CHECK FOREIGN].freeze
      private_constant :CONSTRAINTS

      # @param sql [String]
      def initialize(sql)
        tokens = Tokens.of(sql, calls: false)
        at = tokens.index { |token| token.start_with?("(") }
        raise MigrationError, "cannot read this table: #{sql[0, 120]}" unless at

        @head = tokens.first(at)
        @tail = tokens.drop(at + 1)
        @items = split(Tokens.of(tokens[at][1..-2]))
      end

      # @return [Boolean]
      def column_named?(name)
        !item_of(name).nil?
      end

      # @yieldparam text [ColumnText] to be changed
      # @raise [MigrationError] when there is no such column
      def change(name)
        item = item_of(name)
        raise MigrationError, "there is no column #{name}" unless item

        text = ColumnText.new(Tokens.join(item.drop(1)))
        result = yield text
        item.replace([item.first, *Tokens.of(text.to_s)])
        result
      end

      # @param sql [String]
      def add_constraint(sql)
        @items << Tokens.of(sql)
      end

      # @param name [String, nil]
      # @param body [Array<String>] or its words after the name
      # @return [Boolean] whether there was one
      def remove_constraint(name, *body)
        item = @items.find { |tokens| !column?(tokens) && constraint?(tokens, name, body) }
        item ? !@items.delete(item).nil? : false
      end

      # @return [String] one column a line
      def pretty
        "#{Tokens.join(@head)} (\n#{@items.map { |item| "  #{Tokens.join(item)}" }.join(",\n")}\n)" \
          "#{" #{Tokens.join(@tail)}" if @tail.any?}"
      end

      # @return [String]
      def to_s
        "#{Tokens.join(@head)} (#{@items.map { |item| Tokens.join(item) }.join(', ')})" \
          "#{" #{Tokens.join(@tail)}" if @tail.any?}"
      end

      private

      def split(tokens)
        tokens.slice_when { |before, _| before == "," }.map { |item| item.reject { |token| token == "," } }
      end

      def item_of(name)
        @items.find { |tokens| column?(tokens) && Tokens.unquote(tokens.first).casecmp?(name.to_s) }
      end

      def column?(tokens)
        !CONSTRAINTS.include?(tokens.first.upcase)
      end

      def constraint?(tokens, name, body)
        named = tokens.first.casecmp?("CONSTRAINT")
        return named && Tokens.unquote(tokens[1]).casecmp?(name.to_s) if name

        rest = named ? tokens.drop(2) : tokens
        body.any? && rest.first(body.size).zip(body).all? { |one, other| same?(one, other) }
      end

      def same?(one, other)
        one.casecmp?(other) || one.delete("\"`[] ").casecmp?(other.delete("\"`[] "))
      end
    end
    private_constant :TableText
  end
end
