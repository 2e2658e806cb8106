# frozen_string_literal: true

require "net/http"

# Answers that need no database, with a filter before the plain ones as applications have.
class BenchController < Fastr::Controller
  CHUNK = ("x" * 1024).freeze
  FILLED = Hash.new { |bodies, size| bodies[size] = ("x" * size).freeze }
  SLOW = URI("http://127.0.0.1:18080/delay/1000")

  before_filter :count, only: %i[plaintext json]

  def plaintext
    render(:text, "Hello, World!")
  end

  def json
    render(:json, { message: "Hello, World!" })
  end

  # Ten chunks of 1 KiB without a content-length.
  def chunks
    send_chunks(10)
  end

  # One mebibyte the same way.
  def thousand_chunks
    send_chunks(1024)
  end

  # One string of that many bytes.
  def filled
    render(:text, FILLED[Integer(params[:size])])
  end

  # An API that takes a second, asked with Ruby's own client.
  def slowhttp
    render(:text, Net::HTTP.get(SLOW))
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

  def send_chunks(number)
    defer_response(200, { "content-type" => "text/plain" }) do |response|
      number.times { response.send_data(CHUNK) }
      response.succeed
    end
  end

  def count
    @action = params[:action]
    filter_continue
  end
end
