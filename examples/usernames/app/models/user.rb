# frozen_string_literal: true

# @!attribute username [String]
class User < AsyncRecord::Base
  validates :username, presence: true, length: { maximum: 64 }
end
