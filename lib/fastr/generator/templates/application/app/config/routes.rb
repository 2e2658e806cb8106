# frozen_string_literal: true

router.draw do
  root to: "home#index"
end
