# frozen_string_literal: true

# Owns every exception AsyncRecord raises. The native driver looks these classes up by name and builds them with
# `new(message, sql:, code:, constraint:, detail:, hint:)`. Refuses to hold logic: what to do about an error is the
# caller's business.

module AsyncRecord
  # The root of everything this library raises.
  #
  # @example
  #   begin
  #     User.create!(email: "a@b.c")
  #   rescue AsyncRecord::UniqueViolation => e
  #     warn "taken: #{e.constraint}"
  #   end
  class Error < StandardError
    # @return [String, nil] the statement that failed, without its bound values
    attr_reader :sql
    # @return [Integer, String, nil] the database's own code for the failure
    attr_reader :code
    # @return [String, nil] the violated constraint or the columns it covers
    attr_reader :constraint
    # What PostgreSQL adds to its message. It may hold values of the row, which the message itself does not.
    # @return [String, nil]
    attr_reader :detail
    # @return [String, nil] PostgreSQL's advice
    attr_reader :hint
    # @return [Array, nil] the statement's bound values, as {AsyncRecord.filter_binds} shows them
    attr_reader :binds
    # @return [Float, nil] milliseconds from handing the statement over to the error
    attr_reader :duration_ms

    # @param message [String, nil]
    def initialize(message = nil, sql: nil, code: nil, constraint: nil, detail: nil, hint: nil)
      super(message)
      @sql = sql
      @code = code
      @constraint = constraint
      @detail = detail
      @hint = hint
    end

    # What is known only where the statement was asked for.
    # @api private
    def complete(binds:, duration_ms:)
      @binds = binds
      @duration_ms = duration_ms
      self
    end

    # @param text [String] another message
    # @return [self]
    # @api private
    def reword(text)
      @text = text
      self
    end

    # @return [String]
    def to_s
      @text || super
    end
  end

  # --- what the program got wrong -----------------------------------------------------------------------------------

  # No database is configured, or its URL cannot be used.
  class ConfigurationError < Error; end

  # A name that cannot be an identifier: empty, with a NUL byte, or too long.
  class InvalidIdentifier < Error; end

  # A condition, order or selection names a column that the table does not have.
  class UnknownColumn < Error; end

  # An assignment names an attribute that the model does not have.
  class UnknownAttribute < Error; end

  # The attribute exists, but this record was loaded without it (`select`).
  class MissingAttribute < Error; end

  # An attribute declared with `attr_readonly` was assigned after the record was created.
  class ReadonlyAttribute < Error; end

  # The table has no primary key, or one of several columns where one is needed.
  class UnknownPrimaryKey < Error; end

  # Text to be bound is not valid in its encoding.
  class InvalidText < Error; end

  # A plain String stands where SQL would be needed; trusted text is marked with {AsyncRecord.sql}.
  class UnsafeSql < Error; end

  # The binds of a fragment do not fit its placeholders, or its text cannot be a fragment.
  class FragmentError < Error; end

  # --- records ------------------------------------------------------------------------------------------------------

  # No row has this key (`find`), or no row matches (`first!`, `take!`, `find_by!`).
  class RecordNotFound < Error; end

  # Validation refused the record; {#record} carries the messages.
  class RecordInvalid < Error
    # @return [AsyncRecord::Base, nil]
    attr_reader :record

    # @param record [AsyncRecord::Base, String, nil]
    def initialize(record = nil, **options)
      @record = record.respond_to?(:errors) ? record : nil
      super(@record ? "Validation failed: #{@record.errors.full_messages.join(', ')}" : record, **options)
    end
  end

  # Validation with `strict: true` refused a value.
  class StrictValidationFailed < Error; end

  # Someone else changed or deleted the row since it was read (`lock_version`).
  class StaleRecordError < Error; end

  # The name in ActiveRecord.
  StaleObjectError = StaleRecordError

  # More than one row matches where there may be one (`sole`).
  class SoleRecordExceeded < Error; end

  # A callback stopped the record with `throw :abort`.
  class RecordNotSaved < Error; end

  # A callback stopped the removal with `throw :abort`.
  class RecordNotDestroyed < Error; end

  # The record cannot go while others belong to it (`dependent: :restrict_with_exception`).
  class DeleteRestrictionError < Error; end

  # --- associations -------------------------------------------------------------------------------------------------

  # An association means something that is not there, or cannot do what it is asked for.
  class AssociationError < Error; end

  # The model has no association of that name.
  class UnknownAssociation < AssociationError; end

  # A record of the wrong class was assigned to an association.
  class AssociationMismatch < AssociationError; end

  # A strict record was about to load an association by itself; it has to be preloaded.
  class StrictLoadingError < AssociationError; end

  # --- connections --------------------------------------------------------------------------------------------------

  # The database cannot be reached or refused us.
  class ConnectionError < Error; end

  # Nobody listens where the URL points to.
  class ConnectionRefused < ConnectionError; end

  # The server knows neither this user nor this password, or does not let the user into the database.
  class AuthenticationFailed < ConnectionError; end

  # The connection ended while it was used: the server stopped, or the network.
  class ConnectionLost < ConnectionError; end

  # No connection became free in time. The web face answers 503 with Retry-After.
  class PoolTimeout < Error
    # @return [Integer] seconds after which asking again makes sense
    def retry_after
      1
    end
  end

  # The operation was cancelled before it ended.
  class Cancelled < Error; end

  # This kind of database cannot do that.
  class NotSupported < Error; end

  # A value of the result could not be read.
  class DecodeError < Error; end

  # --- statements ---------------------------------------------------------------------------------------------------

  # The database refused or failed a statement.
  class QueryError < Error; end

  # The statement ran longer than its limit.
  class QueryTimeout < QueryError; end

  # Someone else holds what the statement needs. Running the transaction again may help (`retries:`).
  class BusyError < QueryError; end

  # Two transactions wait for each other.
  class Deadlock < BusyError; end

  # The transaction cannot be ordered among the concurrent ones.
  class SerializationFailure < BusyError; end

  # A lock was not free in time.
  class LockTimeout < BusyError; end

  # A constraint of the schema refused the statement; {Error#constraint} names it.
  class ConstraintViolation < QueryError; end

  # A unique index already has this value.
  class UniqueViolation < ConstraintViolation; end

  # The row points to nothing, or something points to the row.
  class ForeignKeyViolation < ConstraintViolation; end

  # A column that must have a value got NULL.
  class NotNullViolation < ConstraintViolation; end

  # A CHECK constraint is false for the row.
  class CheckViolation < ConstraintViolation; end

  # --- transactions -------------------------------------------------------------------------------------------------

  # Raised inside a transaction to undo it quietly.
  class Rollback < Error; end

  # The transaction has already been committed, rolled back, or taken back for idleness.
  class TransactionClosed < Error; end

  # An isolation level was asked of a transaction that is open already.
  class TransactionIsolationError < Error; end

  # --- migrations ---------------------------------------------------------------------------------------------------

  # A migration cannot be found, read, or was changed after it ran.
  class MigrationError < Error; end

  # The database is behind the files in db/migrate.
  class PendingMigrations < MigrationError; end

  # The migration does not say how to undo itself.
  class IrreversibleMigration < MigrationError; end
end
