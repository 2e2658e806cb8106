# frozen_string_literal: true

class HomeController < ApplicationController
  def index
    @name = "{{name}}"
    render template: "home/index"
  end
end
