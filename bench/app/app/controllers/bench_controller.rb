# frozen_string_literal: true

# Answers that need no database, with a filter before the plain ones as applications have.
class BenchController < Fastr::Controller
  CHUNK = ("x" * 1024).freeze

  before_filter :count, only: %i[plaintext json]

  def plaintext
    render(:text, "Hello, World!")
  end

  def json
    render(:json, { message: "Hello, World!" })
  end

  # Ten chunks of 1 KiB without a content-length.
  def chunks
    defer_response(200, { "content-type" => "text/plain" }) do |response|
      10.times { response.send_data(CHUNK) }
      response.succeed
    end
  end

  # The size of the body, read as it arrives.
  def upload
    size = 0
    buffer = +""
    body = env["rack.input"]
    size += buffer.bytesize while body.read(65_536, buffer)
    render(:text, size.to_s)
  end

  private

  def count
    @action = params[:action]
    filter_continue
  end
end
