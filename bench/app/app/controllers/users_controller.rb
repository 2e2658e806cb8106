# frozen_string_literal: true

# Five usernames from the database in the three styles of AsyncRecord.
class UsersController < Fastr::Controller
  # The program of 2010: an answer held back, a callback that gives it.
  def callback
    defer_response(200, { "content-type" => "application/json" }) do |response|
      User.order(:id).limit(5).all do |users|
        response.send_data(JSON.generate(users.map(&:username)))
        response.succeed
      end
    end
  end

  # Straight-line code: the fiber parks until the rows are there.
  def awaited
    render(:json, User.order(:id).limit(5).pluck(:username))
  end

  # Rows become JSON in Rust.
  def relation
    render(json: User.order(:id).limit(5).select(:username))
  end
end
