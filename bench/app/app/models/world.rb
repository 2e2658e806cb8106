# frozen_string_literal: true

# @!attribute randomnumber [Integer]
class World < AsyncRecord::Base
  self.table_name = "world"
  LARGEST = 10_000

  def self.number
    rand(1..LARGEST)
  end

  def self.keys(count)
    Array.new(count) { number }
  end

  def answer
    { id: id, randomNumber: randomnumber }
  end
end
