# frozen_string_literal: true

class CreateUsers < AsyncRecord::Migration
  def change
    create_table :users do |table|
      table.string :username, null: false
    end
    add_index :users, :username, unique: true
  end
end
