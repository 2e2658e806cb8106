# frozen_string_literal: true

router.draw do |route|
  route.for "/", to: "users#index"
  route.for "/users", to: "users#index"
  route.for "/users.json", to: "users#list"
  route.for "/users/awaited", to: "users#awaited"
  route.for "/users/:id", to: "users#show", id: "[0-9]+"
end
