# frozen_string_literal: true

# The checks of models and what they find.
RSpec.describe "Validations" do
  each_database do
    before do
      database.query("create table users (id #{column(:id)}, name #{column(:string)}, email #{column(:string)}, " \
                     "age #{column(:integer)}, starts_on #{column(:date)}, ends_on #{column(:date)}, " \
                     "state #{column(:string)})")
    end

    def user_model(&body)
      model("User", database, &body)
    end

    # @return [Array<String>] what validation says
    def complaints(record, context = nil)
      record.valid?(context)
      record.errors.full_messages
    end

    it "judge a number as it was assigned" do
      user = user_model { validates :age, numericality: { only_integer: true }, allow_nil: true }
      given = ["12abc", "abc", "1.5", " 7 ", "0x1f", "1e3", "", 3.5, nil]
      expect(given.map { |value| user.new(age: value).valid? })
        .to eq([false, false, false, true, false, false, true, true, true])
      expect(complaints(user.new(age: "12abc"))).to eq(["Age is not a number"])
      stored = user.create!(age: "12")
      expect([stored.valid?, user.find(stored.id).valid?]).to eq([true, true])
    end

    it "compare, with values, methods and blocks" do
      user = user_model do
        validates :ends_on, comparison: { greater_than: :starts_on }, allow_nil: true
        validates :age, comparison: { greater_than_or_equal_to: -> { 18 }, other_than: 99 }, allow_nil: true
      end
      expect(complaints(user.new(starts_on: "2024-02-01", ends_on: "2024-01-01", age: 99)))
        .to eq(["Ends on must be greater than 2024-02-01", "Age must be other than 99"])
      expect(complaints(user.new(age: 17))).to eq(["Age must be greater than or equal to 18"])
      expect(user.new(starts_on: "2024-01-01", ends_on: "2024-02-01", age: 18).valid?).to be(true)
    end

    it "confirm and accept, by fields that are no columns" do
      user = user_model do
        validates :email, confirmation: { case_sensitive: false }
        validates :terms, acceptance: true
        validates :state, acceptance: { accept: %w[yes ok] }, allow_nil: true
      end
      record = user.new(email: "a@b", email_confirmation: "x@y", terms: "0", state: "no")
      expect(complaints(record)).to eq(["Email confirmation doesn't match Email", "Terms must be accepted",
                                        "State must be accepted"])
      expect(user.new(email: "a@b", email_confirmation: "A@B", terms: "1", state: "ok").save).to be(true)
      expect(user.new(email: "a@b").valid?).to be(true)
    end

    it "check uniqueness among the rows of a condition" do
      user = user_model do
        validates :name, uniqueness: { conditions: -> { where(state: "live") }, scope: %i[age email] }
      end
      user.insert_all!([{ name: "ann", state: "live", age: 1, email: nil },
                        { name: "bob", state: "old", age: 1, email: nil }])
      expect([user.new(name: "ann", age: 1).valid?, user.new(name: "bob", age: 1).valid?,
              user.new(name: "ann", age: 2).valid?])
        .to eq([false, true, true])
    end

    it "run in contexts" do
      user = user_model do
        validates :name, presence: true, on: :create
        validates :email, presence: true, on: %i[update publish]
        validates :age, presence: true, on: :publish
      end
      record = user.new
      expect([complaints(record), complaints(record, :publish)]).to eq([["Name can't be blank"],
                                                                        ["Email can't be blank",
                                                                         "Age can't be blank"]])
      record.save!(validate: false)
      expect([complaints(record), record.save(context: :publish), record.invalid?(:publish)])
        .to eq([["Email can't be blank"], false, true])
      expect { record.save!(context: :publish) }.to raise_error(AsyncRecord::RecordInvalid, /Age/)
      expect { record.validate!(:publish) }.to raise_error(AsyncRecord::RecordInvalid)
    end

    it "run under lists of conditions, with the record at hand" do
      user = user_model do
        validates :name, presence: true, if: [:wanted?, ->(record) { record.age == 1 }], unless: -> { state == "off" }
        define_method(:wanted?) { true }
      end
      expect([{ age: 1 }, { age: 2 }, { age: 1, state: "off" }].map { |given| user.new(given).valid? })
        .to eq([false, true, true])
    end

    it "raise when strict" do
      user = user_model do
        validates! :name, presence: true
        validates :email, presence: { strict: ArgumentError }
      end
      expect { user.new.valid? }.to raise_error(AsyncRecord::StrictValidationFailed, "Name can't be blank")
      expect { user.new(name: "x").save }.to raise_error(ArgumentError, "Email can't be blank")
    end

    it "can be classes and blocks of the program" do
      stub_const("LoudValidator", Class.new(AsyncRecord::EachValidator) do
        def validate_each(record, attribute, value)
          return if value == value.to_s.upcase

          record.errors.add(attribute, :quiet, message: options[:message], than: options[:than])
        end
      end)
      dates = Class.new(AsyncRecord::Validator) do
        def validate(record)
          record.errors.add(:base, "no #{options[:what]}") if record.starts_on.nil?
        end
      end
      user = user_model do
        validates :name, loud: { than: 3 }
        validates :email, loud: true, allow_nil: true, message: "is not loud"
        validates_with dates, what: "dates", if: -> { age == 1 }
        validates_each(:state) { |record, attribute, value| record.errors.add(attribute, "is odd") if value == "odd" }
      end
      record = user.new(name: "x", email: "y", state: "odd", age: 1)
      expect(complaints(record)).to eq(["Name quiet", "Email is not loud", "no dates", "State is odd"])
      expect([record.errors.details[:name], user.new(name: "X").valid?]).to eq([[{ error: :quiet, than: 3 }], true])
      expect { user.validates(:name, silent: true) }.to raise_error(ArgumentError, /no class SilentValidator/)
    end

    # rubocop:disable Style/FormatStringToken -- the form people know
    it "say what one wants" do
      user = user_model do
        validates :name, length: { minimum: 3, too_short: "needs %{count} letters, not %{value}" }
        validates :email, presence: { message: lambda { |record, details|
                                                 "#{details[:attribute]} of #{record.name} is missing"
                                               } }
        validates :age, inclusion: { in: 1..9, message: "%{value} is not allowed" }
        validates :state, length: { maximum: 1 }, allow_nil: true
      end
      record = user.new(name: "ab", age: 12, state: "xy")
      expect(complaints(record)).to eq(["Name needs 3 letters, not %{value}", "Email Email of ab is missing",
                                        "Age 12 is not allowed", "State is too long (maximum is 1 character)"])
    end
    # rubocop:enable Style/FormatStringToken

    it "call back" do
      user = user_model { validates :name, presence: true, uniqueness: true }
      expect(called_back { |done| user.new.valid? { |valid| done.call(valid) } }).to be(false)
    end

    it "refuse declarations that mean nothing" do
      user = user_model
      { -> { user.validates(:name, presence: 5) } => /presence: takes true/,
        -> { user.validates(:name) } => /at least one check/, -> { user.validate } => /method name or a block/,
        -> { user.validates_each(:name) } => /needs a block/, lambda {
                                                                user.validate(:x, onn: 1)
                                                              } => /:onn/ }.each do |call, message|
        expect(&call).to raise_error(ArgumentError, message)
      end
    end
  end

  describe "find errors that" do
    let(:errors) { AsyncRecord::ValidationErrors.new }

    it "have types, messages and details" do
      errors.add(:name, :too_short, count: 3).add(:name, "is odd").add(:user_id, :blank).add(:base, :locked,
                                                                                             message: "is locked")
      expect(errors.full_messages)
        .to eq(["Name is too short (minimum is 3 characters)", "Name is odd", "User can't be blank", "is locked"])
      expect(errors.details)
        .to eq({ name: [{ error: :too_short, count: 3 }, { error: "is odd" }], user_id: [{ error: :blank }],
                 base: [{ error: :locked }] })
      expect([errors.of_kind?(:name, :too_short), errors.of_kind?(:name, "is odd"), errors.of_kind?(:name, :blank),
              errors.added?(:name, :too_short, count: 3), errors.added?(:name, :too_short, count: 4)])
        .to eq([true, true, false, true, false])
    end

    it "are counted, listed, taken away and taken over" do
      errors.add(:name, :blank).add(:name, :invalid).add("age", :not_a_number)
      expect([errors.size, errors.count, errors.any?, errors.empty?, errors.attribute_names, errors.include?(:age),
              errors[:age]])
        .to eq([3, 3, true, false, %i[name age], true, ["is not a number"]])
      expect([errors.to_hash, errors.to_hash(true)[:age], errors.full_messages_for(:age)])
        .to eq([{ name: ["can't be blank", "is invalid"], age: ["is not a number"] }, ["Age is not a number"],
                ["Age is not a number"]])
      expect([errors.delete(:name), errors.size, errors.map { |name, _| name }])
        .to eq([["can't be blank", "is invalid"], 1, [:age]])
      expect(described_errors_of(errors)).to eq([:"user.age"])
      errors.clear
      expect([errors.empty?, errors.to_json]).to eq([true, "{}"])
    end

    def described_errors_of(errors)
      AsyncRecord::ValidationErrors.new.merge!(errors, prefix: "user.").attribute_names
    end
  end
end
