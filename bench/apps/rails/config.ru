# frozen_string_literal: true

# The peer that most people have: Rails in API mode with ActiveRecord, in one file, on the same SQLite database.
ENV["RAILS_ENV"] = "production"
ENV["DATABASE_URL"] = "sqlite3:#{ENV.fetch('BENCH_SQLITE')}?pool=5"
require "logger"
require "rails"
require "action_controller/railtie"
require "active_record/railtie"

class BenchApp < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.root = __dir__
  config.api_only = true
  config.eager_load = true
  config.cache_classes = true
  config.consider_all_requests_local = false
  config.public_file_server.enabled = false
  config.secret_key_base = "x" * 64
  config.logger = Logger.new(IO::NULL)
  config.log_level = :fatal
  config.hosts.clear
end

class User < ActiveRecord::Base
end

class BenchController < ActionController::API
  def plaintext
    render plain: "Hello, World!"
  end

  def json
    render json: { message: "Hello, World!" }
  end

  def users5
    render json: User.order(:id).limit(5).pluck(:username)
  end

  # `except` because ActiveRecord adds a null id to records selected without one.
  def users
    render json: User.order(:id).limit(5).select(:username).as_json(except: :id)
  end
end

BenchApp.initialize!
BenchApp.routes.draw do
  %w[plaintext json users5].each { |action| get "/#{action}", to: "bench##{action}" }
  get "/users", to: "bench#users", constraints: { format: "json" }
end
run BenchApp
