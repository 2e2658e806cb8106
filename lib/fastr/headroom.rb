# frozen_string_literal: true

module Fastr
  # Room in Ruby's heap for the objects of requests. It owns one habit: once an application is loaded and before it
  # serves, the heap is given this many free slots.
  #
  # A small program's heap is nearly full of what lives for ever: a few thousand free slots make a collection after each
  # few hundred requests, and whenever a fifth of the heap is not free after one, Ruby does a major collection, whose
  # milliseconds all requests in flight share. Hello on one core with 64 connections (`bench/run -w plaintext`): a 99th
  # percentile of 1.2 ms instead of 3.8, for 1.3 MB.
  module Headroom
    SLOTS = 32_768
    private_constant :SLOTS

    # Does it, the first time it is called in a process and its children.
    # @return [void]
    def self.make
      return if @made

      @made = true
      GC.start
      Array.new(SLOTS) { Object.new }
      nil
    end
  end
  private_constant :Headroom
end
