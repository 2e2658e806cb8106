require 'fastr/test'
require 'test/unit'
require 'fastr'

Fastr::Test::Application.load_init(File.expand_path('..', File.dirname(__FILE__)))
