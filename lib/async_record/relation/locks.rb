# frozen_string_literal: true

# Owns the reading of what `lock` is given: which lock, on which tables, and what to do when it is taken. Refuses text
# that is not exactly a locking clause.

module AsyncRecord
  class Relation
    # A row lock: `strength` is "UPDATE", "NO KEY UPDATE", "SHARE" or "KEY SHARE", `wait` is nil, "NOWAIT" or
    # "SKIP LOCKED".
    Lock = Struct.new(:strength, :tables, :wait) do
      # @param mode [true, Symbol, String, Sql]
      # @return [Lock, nil] nil for no lock
      # @raise [UnsafeSql]
      def self.read(mode)
        case mode
        when nil, false then nil
        when true then new("UPDATE", [], nil)
        when Symbol then named(mode)
        when String, Sql then parse(mode.to_s)
        else raise ArgumentError, "lock takes true, a Symbol or a clause, not a #{mode.class}"
        end
      end

      def self.named(mode)
        case mode
        when :update then new("UPDATE", [], nil)
        when :share then new("SHARE", [], nil)
        when :no_key_update then new("NO KEY UPDATE", [], nil)
        when :key_share then new("KEY SHARE", [], nil)
        when :nowait then new("UPDATE", [], "NOWAIT")
        when :skip_locked then new("UPDATE", [], "SKIP LOCKED")
        else raise ArgumentError, "lock takes :update, :share, :no_key_update, :key_share, :nowait, :skip_locked, " \
                                  "not #{mode.inspect}"
        end
      end

      def self.parse(text)
        return new("SHARE", [], nil) if text.strip.casecmp?("LOCK IN SHARE MODE")

        match = Lock::CLAUSE.match(text) ||
                raise(UnsafeSql, "lock takes true, :share, :skip_locked, :nowait or a clause as in " \
                                 "\"FOR UPDATE OF posts SKIP LOCKED\", not #{text.inspect}")
        new(match[:strength].upcase.squeeze(" "), match[:tables].to_s.split(/\s*,\s*/),
            match[:wait]&.upcase&.squeeze(" "))
      end
      private_class_method :named, :parse
    end
    Lock::CLAUSE = /\A\s*FOR\s+(?<strength>(?:NO\s+KEY\s+)?UPDATE|(?:KEY\s+)?SHARE)
      (?:\s+OF\s+(?<tables>[a-z_]\w*(?:\s*,\s*[a-z_]\w*)*))?(?:\s+(?<wait>NOWAIT|SKIP\s+LOCKED))?\s*\z/ix
    private_constant :Lock
  end
end
