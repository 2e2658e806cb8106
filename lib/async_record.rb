# frozen_string_literal: true

# Owns the library's front: which databases there are, trusted SQL, transactions, and what happens to errors nobody
# takes. Everything else is in lib/async_record, one file per subject. Never requires a web file.

require_relative "async_record/errors"
require_relative "async_record/sql"
require_relative "async_record/values"
require_relative "async_record/context"
require_relative "async_record/type"
require_relative "async_record/dialect"
require_relative "async_record/schema"
require_relative "async_record/instrumentation"
require_relative "async_record/pending"
require_relative "async_record/held"
require_relative "async_record/database"
require_relative "async_record/connection"
require_relative "async_record/turn"
require_relative "async_record/transaction"
require_relative "async_record/deadline"
require_relative "async_record/tags"
require_relative "async_record/query_log"
require_relative "async_record/advisory_lock"
require_relative "async_record/gather"
require_relative "async_record/listener"
require_relative "async_record/relation"
require_relative "async_record/base"

# An ORM that never blocks the reactor.
#
# @example
#   require "async_record"
#   AsyncRecord.connect "sqlite:db/app.db"
#   class User < AsyncRecord::Base; end
#   User.where(age: 18..).order(:name).each { |user| puts user.name }
module AsyncRecord
  PRIMARY = :primary
  private_constant :PRIMARY

  @databases = {}
  @legacy_table_names = false
  @error_handler = @on_connect = nil
  @filter_attributes = [/passw/i, /secret/i, /token/i].freeze

  class << self
    # Whether a model's default table is named as in 2010: the class name in lower case, singular.
    #
    # @return [Boolean]
    attr_accessor :legacy_table_names

    # What `inspect` of a record does not show, in all models; see {Base.filter_attributes}.
    #
    # @return [Array<Symbol, String, Regexp>]
    attr_accessor :filter_attributes

    # @return [Proc, nil] what {on_error} was given
    attr_reader :error_handler

    # Names a database. Nothing is opened before the first statement.
    #
    # @example
    #   AsyncRecord.connect "sqlite:db/app.db", size: 8
    #   AsyncRecord.connect "sqlite:db/log.db", name: :log
    #   Entry.connects_to :log
    #   AsyncRecord.connect "postgres://app@main/shop", replicas: ["postgres://app@copy/shop"], size: 10
    # @param url [String, nil] nil takes DATABASE_URL from the environment
    # @param name [Symbol]
    # @param options [Hash] for the driver; `replicas:`, URLs of copies that are read from, and `sticky:`, for how many
    #   seconds whoever wrote reads from the primary (5)
    # @return [Database]
    # @raise [ConfigurationError, ConnectionError]
    def connect(url = nil, name: PRIMARY, **options)
      url ||= ENV.fetch("DATABASE_URL") { raise ConfigurationError, missing_database(name) }
      @databases[name] = Database.new(url, **options).connect
      Base.forget_schema # it may be another one's
      @on_connect&.call(@databases[name])
      @databases[name]
    end

    # @return [void]
    # @api private
    attr_writer :on_connect

    # @param name [Symbol]
    # @return [Database]
    # @raise [ConfigurationError] when it was not named and DATABASE_URL is not set
    def database(name = PRIMARY)
      @databases[name] || (name == PRIMARY && ENV["DATABASE_URL"] && connect) ||
        raise(ConfigurationError, missing_database(name))
    end

    # @return [Hash{Symbol => Database}] all that were named
    def databases
      @databases.dup
    end

    # Closes all databases and forgets them.
    # @return [void]
    def disconnect
      @databases.each_value(&:close)
      @databases = {}
      Base.forget_schema
    end

    # Gives the first name to another database.
    #
    # @param database [Database, nil] nil takes the name away
    # @return [Database, nil] what had it, as it was
    # @api private
    def replace(database)
      before = @databases.delete(PRIMARY)
      @databases[PRIMARY] = database if database
      Base.forget_schema
      before
    end

    # @example
    #   AsyncRecord.pool.stats           # => { size: 4, idle: 3, busy: 1, waiting: 0, … }
    # @return [Database] the database, which knows its pool's numbers
    def pool(name = PRIMARY)
      resolve(name)
    end

    # Marks text as trusted SQL. Never put user input into it: use its placeholders.
    #
    # @example
    #   User.order(AsyncRecord.sql("length(name) desc"))
    #   User.where(AsyncRecord.sql("age > ?", 18))
    # @return [Sql]
    def sql(text, *binds, **named)
      Sql.new(text, binds, named)
    end

    # Makes user input a literal part of a pattern for LIKE.
    #
    # @example
    #   User.where("name like ? escape '!'", "#{AsyncRecord.sanitize_like(input)}%")
    # @param text [String]
    # @param escape [String] one character; say the same in the ESCAPE clause
    # @return [String]
    def sanitize_like(text, escape = "!")
      raise ArgumentError, "escape is one character" unless escape.length == 1

      text = Dialect.for(:sqlite).bind(text.to_s)
      text.gsub(/[%_#{Regexp.escape(escape)}]/) { |character| escape + character }
    end

    # Runs a block in a transaction: commits at its end, rolls back when it raises. Inside another one it is a
    # savepoint. Everything the block's fiber asks of the database belongs to it; {Rollback} takes it back quietly.
    # `retries:` belongs to the outermost transaction: inside another one it is not looked at.
    #
    # @example
    #   AsyncRecord.transaction(retries: 3) do |tx|
    #     account = Account.find(1)
    #     account.update!(balance: account.balance - 5)
    #     tx.after_commit { notify }
    #   end
    # @param database [Database, Symbol]
    # @param retries [Integer] how often to run the block again when someone else was faster ({BusyError}, which
    #   {SerializationFailure} and {Deadlock} are too)
    # @param options [Hash] `isolation:` (:serializable, :repeatable_read, :read_committed, :read_uncommitted),
    #   `read_only:`, `deferrable:` (PostgreSQL), `mode:` (SQLite: :immediate or :deferred), `timeout:` seconds for
    #   opening it
    # @yieldparam transaction [Transaction]
    # @return [Object, nil] what the block returns; nil after a {Rollback}
    def transaction(database: PRIMARY, retries: 0, **options, &block)
      Transaction.nest(resolve(database), retries: retries, **options, &block)
    end

    # Opens a transaction for callbacks. It is ended by its `commit` or `rollback`, or by itself when the block raises
    # or nothing is asked of it for 30 seconds.
    #
    # @example
    #   AsyncRecord.begin do |tx, error|
    #     User.using(tx).find(1) { |user| user.update({ name: "x" }, using: tx) { tx.commit { done } } }
    #   end
    # @yieldparam transaction [Transaction]
    # @return [Transaction, Pending]
    def begin(database: PRIMARY, **options, &block)
      database = resolve(database)
      work = -> { Transaction.begin(database, **options) }
      block ? Pending.spawn(Transaction.guarded(block), &work) : work.call
    end

    # Raises when migrations have not run: for the start of a program in development. Does nothing while `fastr db`
    # reads the program.
    #
    # @example
    #   AsyncRecord.check_pending! if Fastr.environment == "development"
    # @param database [Database, Symbol]
    # @param folder [String]
    # @return [void]
    # @raise [PendingMigrations]
    def check_pending!(database: PRIMARY, folder: "db/migrate")
      require_relative "async_record/migrator"
      Migrator.new(resolve(database), folder: folder).check_pending! unless Context[:fastr_db]
      nil
    end

    # Runs waiting code in a fiber of its own.
    #
    # @example
    #   AsyncRecord.async { Report.build }.on_success { |report| … }
    # @return [Pending]
    def async(&block)
      Pending.spawn(&block)
    end

    # Does several things at once and waits for all. The first error cancels the rest.
    #
    # @example
    #   users, count = AsyncRecord.gather(User.async.limit(5).to_a, -> { Post.count })
    # @param work [Array<Pending, Proc, Relation>]
    # @param limit [Integer, nil] how many Procs may run at once
    # @param settle [Boolean] whether to collect errors instead of raising the first
    # @return [Array<Object>] in the order of the arguments
    def gather(*work, limit: nil, settle: false)
      gather = Gather.new(work.flatten, limit: limit)
      settle ? gather.settle : gather.values
    end

    # Loads associations for records that are there already, as {Relation#preload} does.
    #
    # @example
    #   AsyncRecord.preload(posts, :user, comments: :author)
    # @param records [Array<Base>, Base] of any models that have the associations
    # @return [Array<Base>, Pending] the records
    # @raise [UnknownAssociation]
    def preload(records, *names, **nested, &block)
      records = records.is_a?(Base) ? [records] : records.to_a
      tree = Tree.of(*names, nested)
      records.map(&:class).uniq.each { |model| Preloader.check(model, tree) }
      work = -> { Preloader.run(records, tree) && records }
      block ? Pending.spawn(block, &work) : work.call
    end

    # Sets what happens to an error that a callback form had no path for. Without it the dispatcher gets the error,
    # which fails the request.
    #
    # @yieldparam error [StandardError]
    # @return [void]
    def on_error(&block)
      @error_handler = block
    end

    private

    def resolve(database)
      case database
      when Database then database
      when Class then database.database
      else default_database(database)
      end
    end

    # `set_connection` on Base names the primary database too.
    def default_database(name)
      name == PRIMARY ? Base.database : database(name)
    end

    def missing_database(name)
      if name == PRIMARY
        return "no database is set; say AsyncRecord.connect \"sqlite:db/app.db\" " \
               "(in an application's folder: in app/config/init.rb) or set DATABASE_URL"
      end

      "there is no database #{name.inspect}; say AsyncRecord.connect \"sqlite:db/#{name}.db\", name: #{name.inspect}"
    end
  end
end
