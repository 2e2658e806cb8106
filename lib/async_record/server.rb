# frozen_string_literal: true

# Owns what has to be known of the server at the other end, because its SQL alone does not say what it can do: whether a
# MySQL is a MariaDB, and which unique indexes it has. It is asked when first needed.

module AsyncRecord
  # What a database's server can do. Part of {Database}.
  module Server
    MARIADB = /\A(\d+)\.(\d+)[\d.]*-MariaDB/i
    private_constant :MARIADB

    # @return [String] as the server says it, "10.11.6-MariaDB-0+deb12u1"; waits the first time
    def server_version
      function = dialect.name == :sqlite ? "sqlite_version()" : "version()"
      @server_version ||= query("select #{function} as version").first["version"]
    end

    # @api private
    # @raise [NotSupported]
    def check_returning
      match = MARIADB.match(server_version)
      return if match && ([match[1].to_i, match[2].to_i] <=> [10, 5]) >= 0

      raise NotSupported, "MySQL has no RETURNING (MariaDB has it from 10.5 on; this server is " \
                                "#{server_version}); ask for the rows in a second query"
    end

    # MySQL looks at every unique index, whichever was meant. That is the same thing if the rows can meet only one.
    #
    # @api private
    # @param unique_by [Array<String>]
    # @param columns [Array<String>] what the rows fill
    # @raise [NotSupported]
    def check_unique_index(table, unique_by, columns)
      indexes = unique_indexes(table.name)
      meant = indexes.find { |_, names| names.sort == unique_by.sort }
      raise NotSupported, "#{table.name} has no unique index on (#{unique_by.join(', ')})" unless meant

      other = indexes.find { |index, names| index != meant.first && (names - columns).empty? }
      return unless other

      raise NotSupported, "MySQL cannot tell the unique indexes of #{table.name} apart: the rows also fill " \
                                "#{other.first} (#{other.last.join(', ')}); leave unique_by: out to mean any of them"
    end

    private

    def unique_indexes(table)
      sql, binds = dialect.unique_indexes_query(table)
      query(sql, *binds).group_by { |row| row["name"] }.transform_values { |rows| rows.map { |row| row["column"] } }
    end
  end
  private_constant :Server
end
