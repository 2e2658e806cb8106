require 'fastr'
require 'fastr/eventmachine'
EM.kqueue = true if EM.kqueue?
EM.epoll = true if EM.epoll?
fastrApp = Fastr::Application.new(::File.expand_path(::File.dirname(__FILE__)))
app = lambda { |env|
	fastrApp.dispatch(env)
}
run app
