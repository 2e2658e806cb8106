# frozen_string_literal: true

# Owns the writing of new migrations: what a name such as `add_price_to_posts` and fields such as `price:decimal{10,2}`
# already say is filled in.

require "fileutils"

module AsyncRecord
  class CLI
    # Writes one migration.
    class Generator
      FIELD = /\A(?<name>[a-z_]\w*)(?::(?!(?:uniq|index)\z)(?<type>\w+)(?:\{(?<size>[\d,.-]+)\})?(?<required>!)?)?
               (?::(?<index>uniq|index))?\z/xi
      REFERENCES = %w[references belongs_to].freeze
      private_constant :FIELD, :REFERENCES

      # @param folder [String]
      # @param root [String]
      def initialize(folder, root:)
        @folder = folder
        @root = root
      end

      # @param name [String]
      # @param fields [Array<String>] such as "title", "body:text!", "price:decimal{10,2}", "email:string:uniq"
      # @return [String] the path below the root
      # @raise [Error] for a name or field that cannot be
      def write(name, fields)
        name = checked(name)
        fields = fields.map { |text| field(text) }
        twin = Dir.glob(File.join(@folder, "*_#{name}.rb")).first
        raise Error, "#{twin} exists already" if twin

        FileUtils.mkdir_p(@folder)
        path = File.join(@folder, "#{next_version}_#{name}.rb")
        File.write(path, source(name, fields), mode: "wx")
        path.delete_prefix("#{@root}/")
      end

      private

      def checked(name)
        name = Inflector.underscore(name.to_s.tr("-", "_"))
        return name if name.match?(/\A[a-z][a-z0-9_]*\z/)

        raise Error, "a migration's name has letters, digits and underscores, and begins with a letter"
      end

      def field(text)
        found = FIELD.match(text)
        type = found && (found[:type] || "string")
        return found if found && (REFERENCES.include?(type) || Migration::TableDefinition::TYPES.include?(type.to_sym))

        raise Error, "a field is name:type, as in title:string!, 'price:decimal{10,2}', email:string:uniq, " \
                     "user:references; not #{text.inspect}#{quotes(text)}"
      end

      # Shells make two words of what stands in braces.
      def quotes(text)
        "; write quotes around a field with braces, or the shell takes it apart" if text.match?(/\d\z/)
      end

      # Now, or one past the newest file when several are written within a second.
      def next_version
        newest = Dir.children(@folder).map { |file| file[/\A\d+/].to_i }.max.to_i
        [Time.now.utc.strftime("%Y%m%d%H%M%S").to_i, newest + 1].max
      end

      def source(name, fields)
        lines = body(name, fields).map { |line| "    #{line}\n" }.join
        "# frozen_string_literal: true\n\nclass #{Inflector.camelize(name)} < AsyncRecord::Migration\n  " \
          "def change\n#{lines}  end\nend\n"
      end

      def body(name, fields)
        case name
        when /\Acreate_(\w+)\z/ then table(Regexp.last_match(1), fields)
        when /\A(?:add|remove)_\w*_(?:to|from)_(\w+)\z/ then columns(name, Regexp.last_match(1), fields)
        else fields.empty? ? [] : raise(Error, "fields need a name like create_posts or add_price_to_posts")
        end
      end

      def table(name, fields)
        rows = fields.map do |one|
          "  t.#{one[:type] || 'string'} :#{one[:name]}#{options(one)}#{index(one) && ", index: #{index(one)}"}"
        end
        ["create_table :#{name} do |t|", *rows, "  t.timestamps", "end"]
      end

      def columns(name, table, fields)
        verb = name.start_with?("add") ? "add" : "remove"
        fields.map do |one|
          next "#{verb}_reference :#{table}, :#{one[:name]}#{options(one)}" if REFERENCES.include?(one[:type])

          "#{verb}_column :#{table}, :#{one[:name]}, :#{one[:type] || 'string'}#{options(one)}" \
            "#{index(one) && ", index: #{index(one)}"}"
        end
      end

      def options(one)
        parts = []
        parts << "null: false" if one[:required]
        parts << size(one) if one[:size]
        parts << "foreign_key: true" if REFERENCES.include?(one[:type])
        parts.map { |part| ", #{part}" }.join
      end

      def size(one)
        first, second = one[:size].split(/[,.-]/)
        return "limit: #{first}" unless %w[decimal numeric].include?(one[:type])

        ["precision: #{first}", *("scale: #{second}" if second)].join(", ")
      end

      def index(one)
        { "uniq" => "{ unique: true }", "index" => "true" }[one[:index]]
      end
    end
    private_constant :Generator
  end
end
