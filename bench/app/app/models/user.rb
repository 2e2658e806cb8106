# frozen_string_literal: true

# @!attribute username [String]
class User < AsyncRecord::Base
end
