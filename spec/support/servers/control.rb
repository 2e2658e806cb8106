# frozen_string_literal: true

# Tells the keeper of a server what to do, and waits until it is done:
#
#   ruby --disable-gems control.rb FOLDER start|stop|kill|restart|pause|resume

require "socket"

folder, word = ARGV
UNIXSocket.open(File.join(folder, "keeper")) do |keeper|
  keeper.puts(word)
  answer = keeper.gets.to_s
  abort answer unless answer.start_with?("ok")
end
