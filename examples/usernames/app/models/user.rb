# frozen_string_literal: true

class User < AsyncRecord::Base
end
