# frozen_string_literal: true

# A whole application in one file: `ruby app.rb`, or `fastr server app.rb` for more options.
require "fastr"

get "/" do
  "Hello, world!\n"
end

get "/hello/:name" do |name|
  "Hello #{name}\n"
end

get "/json" do
  { message: "Hello, World!" }
end

# A plain `sleep` holds up nobody but this request.
get "/slow" do
  sleep 1
  "one second later\n"
end

get "/count" do
  stream do |out|
    5.times do |number|
      out << "#{number}\n"
      sleep 0.2
    end
  end
end
