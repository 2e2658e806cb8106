# frozen_string_literal: true

# The three styles of AsyncRecord side by side.
class UsersController < Fastr::Controller
  rescue_from(AsyncRecord::RecordNotFound) { render(:text, "no such user\n", response_code: 404) }
  rescue_from(AsyncRecord::RecordInvalid) { |error| render(:text, "#{error.message}\n", response_code: 422) }
  rescue_from(AsyncRecord::UniqueViolation) { render(:text, "that name is taken\n", response_code: 409) }

  # A callback and an answer held back, as in 2010.
  def index
    defer_response(200, { "content-type" => "text/plain; charset=utf-8" }) do |response|
      User.all(limit: 5) do |users|
        users.each { |user| response.send_data("#{user.username}\n") }
        response.succeed
      end
    end
  end

  # A query as the answer.
  def list
    render(:json, User.order(:id).select(:id, :username))
  end

  # Code that reads as if it waited; only this request does.
  def show
    render(:json, User.find(params[:id]).attributes)
  end

  def create
    render(:json, User.create!(username: params["username"]).attributes, response_code: 201)
  end
end
