# frozen_string_literal: true

RSpec.describe AsyncRecord::Error, "of a driver" do
  it "carries what the database said" do
    error = AsyncRecord::UniqueViolation.new("taken", sql: "INSERT …", code: "23505", constraint: "users_email_key",
                                                      detail: "Key (email)=(a) already exists.", hint: "try another")
    expect([error.message, error.sql, error.code, error.constraint, error.detail, error.hint])
      .to eq(["taken", "INSERT …", "23505", "users_email_key", "Key (email)=(a) already exists.", "try another"])
  end

  it "has a class for each cause, below the one for its kind" do
    {
      ConnectionRefused: :ConnectionError, AuthenticationFailed: :ConnectionError, ConnectionLost: :ConnectionError,
      LockTimeout: :BusyError, Deadlock: :BusyError, SerializationFailure: :BusyError, QueryTimeout: :QueryError
    }.each do |name, parent|
      expect(AsyncRecord.const_get(name).ancestors).to include(AsyncRecord.const_get(parent), described_class)
    end
  end

  it "says when a full pool may be asked again" do
    expect(AsyncRecord::PoolTimeout.new("full").retry_after).to eq(1)
  end
end
