# frozen_string_literal: true

%w[alice bob carol dave erin].each do |name|
  User.create!(username: name) unless User.where(username: name).exists?
end
