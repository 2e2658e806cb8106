# frozen_string_literal: true

# Hostile text through every public method that takes a value, a name or a fragment: as a value it is only a value, as a
# name it is refused, and the tables are as they were. The corpus is spec/support/injection.
RSpec.describe "SQL injection" do
  each_database { include_examples "a database that hostile text does not reach" }

  each_database(:sqlite) do
    it "does not take an unknown quoted name for text, as SQLite would" do
      database.query("create table users (id integer primary key)")
      ghost = model("Ghost", database) { self.table_name = "users" }
      expect { ghost.where("nonsense" => "nonsense").to_a }.to raise_error(AsyncRecord::UnknownColumn)
    end
  end
end
