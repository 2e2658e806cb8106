require 'test_helper'

class {{class}}ControllerTest < Test::Unit::TestCase
	include Fastr::Test::Controller

	def test_something
		assert(true)
	end
end
