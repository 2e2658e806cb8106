# frozen_string_literal: true

# Owns the driving of hostile text through the cases of Support::Injection on one database, and the judgement of what
# came of it.

module Support
  module Injection
    # Runs cases, each in a transaction that is taken back.
    class Trial
      ERRORS = [AsyncRecord::Error, ArgumentError].freeze
      NOTHING = [[], {}, nil, 0, false, ""].freeze
      UNCERTAIN = [AsyncRecord::QueryError, AsyncRecord::DecodeError].freeze

      def initialize(database, model)
        @database = database
        @model = model
      end

      # Where each statement takes a way through a socket, each case gets every fourth text, and each text a case.
      #
      # @return [Array<String>] what went wrong
      def run(cases, texts)
        every = @database.dialect.name == :sqlite ? 1 : 4
        cases.each_with_index.flat_map do |one, offset|
          texts.each_with_index.filter_map { |text, index| complaint(one, text) if ((index + offset) % every).zero? }
        end
      end

      # @return [Array<Hash>] what must not change
      def canary
        @database.query("select id, word from canary order by id")
      end

      private

      def complaint(one, text)
        problem = nil
        # A name is refused before there is a statement: nothing has to be taken back.
        seen = statements { one.kind == :name ? problem = judge(one, text) : within { problem = judge(one, text) } }
        problem ||= leaked(one, text, seen)
        "#{one} with #{text[0, 60].inspect}: #{problem}" if problem
      end

      def within
        AsyncRecord.transaction(database: @database) do
          yield
          raise AsyncRecord::Rollback
        end
      rescue *UNCERTAIN, AsyncRecord::TransactionClosed
        nil # what was judged has ended it already
      end

      # Symbols and messages cannot be made of everything; Ruby says so in its own words.
      def judge(one, text)
        result = one.work.call(target(one), text)
        judge_result(one.kind, result) || ("the canary is dead: #{canary}" unless canary == CANARY)
      rescue *ERRORS => error
        one.kind == :value && refused_wrongly?(error, text) ? "a value was refused: #{shown(error)}" : nil
      rescue StandardError => error
        return if error.is_a?(EncodingError) && one.kind != :value && Injection::STRANGE.include?(text)

        shown(error)
      end

      def shown(error)
        "#{error.class}: #{error.message.b[0, 200].inspect}"
      end

      def judge_result(kind, result)
        case kind
        when :value then "found #{result.inspect[0, 100]}" unless NOTHING.include?(result)
        when :name then "was not refused, but gave #{result.inspect[0, 100]}"
        end
      end

      # A database may refuse a value that its columns cannot hold, and the library bytes that are no text.
      def refused_wrongly?(error, text)
        return false if UNCERTAIN.any? { |known| error.is_a?(known) }
        return false if text.encoding != Encoding::UTF_8 || !text.valid_encoding?

        true
      end

      def leaked(one, text, seen)
        unless one.kind == :value && text.valid_encoding? && text.encoding == Encoding::UTF_8 && text.include?(MARK)
          return
        end

        found = seen.find { |sql| sql.include?(MARK) }
        "got into the SQL: #{found[0, 200]}" if found
      end

      def target(one)
        case one.owner
        when :relation, :model then @model
        when :record then @model.order(:id).first
        when :database then @database
        when :module then AsyncRecord
        end
      end

      def statements
        seen = []
        subscription = AsyncRecord.subscribe(:query) { |event| seen << event.sql }
        yield
        seen
      ensure
        AsyncRecord.unsubscribe(subscription)
      end
    end

    CANARY = [{ "id" => 1, "word" => "alive" }, { "id" => 2, "word" => "singing" }].freeze
  end
end

# Takes `database` and `column(type)`, as each_database gives them.
RSpec.shared_examples "a database that hostile text does not reach" do
  before do
    database.query("create table canary (id #{column(:id)}, word #{column(:string)})")
    database.query("insert into canary (id, word) values (1, 'alive'), (2, 'singing')")
    database.query("create table users (id #{column(:id)}, name #{column(:text)}, age #{column(:integer)}, " \
                   "active #{column(:boolean)}, settings #{column(:json)}, updated_at #{column(:time)})")
    # No text is the number of a row, even if it begins with one.
    database.query("insert into users (id, name, age) values (100001, 'ann', 100001), (100002, 'bob', 100002)")
    model("User", database)
  end

  after do
    expect(database.query("select id, word from canary order by id")).to eq(Support::Injection::CANARY)
    expect(database.query("select name from users order by id").map { |row| row["name"] }).to eq(%w[ann bob])
  end

  { relation: "a relation", model: "a model", record: "a record", database: "a database", module: "the module" }
    .each do |owner, name|
    Support::Injection.cases.select { |one| one.owner == owner }.group_by(&:kind).each do |kind, cases|
      it "through #{name}, where it is a #{kind}", limit: 120 do
        trial = Support::Injection::Trial.new(database, User)
        expect(trial.run(cases, Support::Injection.texts)).to eq([])
      end
    end
  end

  it "through a callback either" do
    Support::Injection::HOSTILE.first(20).each do |text|
      expect(called_back { |done| User.where(name: text).to_a { |users| done.call(users) } }).to eq([])
      expect(called_back { |done| User.find_by(name: text) { |user| done.call(user) } }).to be_nil
    end
  end

  it "as a pattern, when its wildcards are escaped" do
    User.insert_all!(%w[100% 1000 a_b axb a!b].map { |name| { name: name, updated_at: nil } })
    found = ->(input) { User.where("name like ? escape '!'", AsyncRecord.sanitize_like(input)).order(:id).pluck(:name) }
    expect([found["100%"], found["a_b"], found["a!b"], found["%"]]).to eq([["100%"], ["a_b"], ["a!b"], []])
    User.where.not(name: %w[ann bob]).delete_all
  end

  it "as a second statement" do
    expect { database.query("select 1; drop table canary") }.to raise_error(AsyncRecord::Error)
    expect { User.where("1=1; drop table canary").to_a }.to raise_error(AsyncRecord::FragmentError)
    expect { User.where("1=1) or (1=1").to_a }.to raise_error(AsyncRecord::FragmentError)
    expect(User.where(name: "x").where("1=1 or 1=1 --").count).to eq(0)
  end
end
