# frozen_string_literal: true

# The same where rows become JSON in Rust; what needs Ruby values waits as usual.
class WorldJsonController < WorldAwaitedController
  COLUMNS = World.select(:id, randomnumber: :randomNumber)

  # One object, as the other servers answer: the array of one without its brackets.
  def db
    render(json: COLUMNS.where(id: World.number).to_json_bytes[1..-2])
  end

  # All twenty at once.
  def queries
    pending = World.keys(QUERIES).map { |key| COLUMNS.where(id: key).async.to_json_bytes }
    render(json: "[#{AsyncRecord.gather(*pending).map { |json| json[1..-2] }.join(",")}]")
  end
end
