# frozen_string_literal: true

%w[ann bob cyd dan eve fay].each do |name|
  User.create!(username: name) unless User.where(username: name).exists?
end
