# frozen_string_literal: true

# Five usernames from the database, in each of the ways to wait for it.
class UsersController < Fastr::Controller
  # As in 2010: the answer is deferred, the query calls back.
  def index
    defer_response(200, "Content-Type" => "text/plain") do |response|
      User.all(limit: 5) do |users|
        users.each { |user| response.send_data("#{user.username}\n") }
        response.succeed
      end
    end
  end

  # Straight-line code: the fiber of this request waits, every other request runs.
  def awaited
    names = User.limit(5).map(&:username)
    render text: "#{names.join("\n")}\n"
  end

  # From rows to JSON to the socket in Rust, without a Ruby object for each row.
  def list
    render json: User.limit(5)
  end

  # A record that is not there is a 404.
  def show
    render json: User.find(params[:id]).attributes
  end
end
