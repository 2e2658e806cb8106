# frozen_string_literal: true

router.draw do |route|
  route.root to: "users#index"
  route.get "/users", to: "users#index"
  route.get "/users.json", to: "users#list"
  route.get "/users/:id", to: "users#show", id: "[0-9]+"
  route.post "/users", to: "users#create"
end
