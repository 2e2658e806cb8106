# frozen_string_literal: true

# Owns the corpus of hostile text and the register of what it is driven through: every public method of AsyncRecord that
# takes a value, a name or a piece of SQL has a case, found missing by reflection. The cases are in injection/cases, the
# examples in injection/examples; both know no database.

module Support
  # Hostile text, and where it goes.
  module Injection
    # Whatever text the SQL of a statement holds, it never holds this.
    MARK = "zq7x"
    # rubocop:disable Layout/LineLength -- a list of texts
    HOSTILE = [
      "' or '1'='1", "x'; drop table canary; --", "'; update canary set word = 'dead' where '1'='1", "''; delete from canary --",
      "\\'; drop table canary; --", "\\\\'; drop table canary; #", "\" or \"\"=\"", "\"; drop table canary; --",
      "`; drop table canary; --", "` or 1=1 -- ", "1 or 1=1", "1); drop table canary; --", "0 union select 1,2,3", "0x27", "$1",
      "$$; drop table canary; $$", "$a$ or 1=1 $a$", "?", "??", ":x", ":name or 1=1", "::text", "@x", "@@version", "%", "_",
      "%' or name like '%", "--", "-- \n or 1=1", "/*", "*/ or 1=1 /*", "/*!50000 or 1=1 */", "/*M! or 1=1 */", "#", ";", ";;", "()",
      "(select word from canary)", "*", "users.*", "name desc; drop table canary", "name nulls first; drop table canary",
      "name collate nocase", "case when 1=1 then id end", "id, (select 1)", "name\nunion select 1", "a\0b", "\0'; drop table canary; --",
      "\u2018 or \u20181\u2019=\u20181", "\u02bc or 1=1", "\uff07 or 1=1 --", "ｎａｍｅ", "\u202e' or 1=1", "\u0000", "\r\n", "\t", " ",
      "E'\\'; drop table canary; --'", "N'x", "x\\", "\\", "'", "''", "\"", "`", "]]", "{\"a\": 1}", "[1]", "2024-01-01'", "true", "null",
      "NULL); --", "pg_sleep(0)", "sleep(0)", "load_extension('x')", "a" * 70, "'" * 3000
    ].freeze
    # Bytes that read as something else in another encoding, and bytes that read as nothing.
    STRANGE = [
      "\xbf'; drop table canary; --".b, "\xbf\\'; drop table canary; --".b, "\x95'".b.force_encoding(Encoding::Shift_JIS),
      "\x81\\' or 1=1".b.force_encoding(Encoding::GBK), "\xff\xfe'".b, "\xc0\xa7 or 1=1", "abc\xff' or 1=1",
      "' or 1=1".encode(Encoding::UTF_16LE), "grün' or 1=1".encode(Encoding::ISO_8859_1), "\xed\xa0\x80' or 1=1"
    ].freeze

    # rubocop:enable Layout/LineLength

    # One way for text into a method. `kind` says what has to come of it:
    #   :value     nothing is found, or it is stored as it is; no statement's text holds it
    #   :name      it is refused before there is a statement
    #   :fragment  it is SQL by design: whatever comes of it stays inside of its parentheses
    #   :quoted    it is a name of the program's own, which may be anything but stays one
    Case = Struct.new(:owner, :name, :kind, :work, keyword_init: true) do
      def to_s
        "#{owner}##{name} (#{kind})"
      end
    end

    class << self
      # @return [Array<Case>]
      def cases
        @cases ||= []
      end

      # @return [Hash{Symbol => Array<Symbol>}] methods that take nothing of the kind, by owner
      def harmless
        @harmless ||= Hash.new { |hash, owner| hash[owner] = [] }
      end

      # @param owner [Symbol] :relation, :model, :record, :database, :module
      # @yield declares the cases
      def on(owner, &declarations)
        Declarations.new(owner).instance_eval(&declarations)
      end

      # @return [Array<String>]
      def texts
        @texts ||= (HOSTILE.flat_map { |text| [text, "#{text}#{MARK}"] } + STRANGE).map(&:freeze).freeze
      end

      # @return [Array<Symbol>] the methods that have neither a case nor an excuse
      def missing(owner)
        known = cases.select { |one| one.owner == owner }.map(&:name) + harmless[owner]
        takers(owner) - known
      end

      # @return [Array<Symbol>] cases for methods that are not there
      def stale(owner)
        cases.select { |one| one.owner == owner }.map(&:name).uniq - all_methods(owner)
      end

      private

      # Public methods that take arguments. A class's own face of a relation's methods is judged with the relation.
      def takers(owner)
        all_methods(owner).select do |name|
          parameters = parameters_of(owner, name)
          parameters.any? { |kind, _| kind != :block }
        end
      end

      def parameters_of(owner, name)
        case owner
        when :model then AsyncRecord::Base.method(name).parameters
        when :module then AsyncRecord.method(name).parameters
        else klass(owner).instance_method(name).parameters
        end
      end

      # What AsyncRecord itself defines, whichever libraries have given every object methods of the same names.
      def all_methods(owner)
        case owner
        when :model
          ours(AsyncRecord::Base.public_methods) { |name| AsyncRecord::Base.method(name) } - delegated
        when :module then AsyncRecord.singleton_methods
        else ours(klass(owner).public_instance_methods) { |name| klass(owner).instance_method(name) }
        end
      end

      def ours(names)
        names.select do |name|
          home = yield(name).owner
          home = home.attached_object if home.singleton_class? && home.respond_to?(:attached_object)
          home.inspect.delete_prefix("#<Class:").start_with?("AsyncRecord")
        end
      end

      # A class's face of its relation's methods.
      def delegated
        AsyncRecord::Base.singleton_class.included_modules.filter_map do |face|
          face.const_get(:DELEGATED) if face.const_defined?(:DELEGATED, false)
        end.flatten
      end

      def klass(owner)
        { relation: AsyncRecord::Relation, record: AsyncRecord::Base, database: AsyncRecord::Database,
          transaction: AsyncRecord::Transaction }.fetch(owner)
      end
    end

    # The words of the cases.
    class Declarations
      def initialize(owner)
        @owner = owner
      end

      # @return [Array] nothing, if the text was stored as it is; text of another encoding as the same text in UTF-8
      def kept(found, text)
        same = found == text || found.b == text.b
        same || found == text.encode(Encoding::UTF_8) ? [] : [found]
      rescue EncodingError
        [found]
      end

      %i[value name fragment quoted].each do |kind|
        define_method(kind) do |*methods, &work|
          methods.each do |method|
            body = ->(target, text) { work.call(target, text, method) }
            Injection.cases << Case.new(owner: @owner, name: method, kind: kind, work: body)
          end
        end
      end

      # @param _reason [String] why no text gets from there into SQL
      def harmless(_reason, *methods)
        Injection.harmless[@owner].concat(methods)
      end
    end
  end
end

require_relative "injection/cases"
require_relative "injection/examples"
