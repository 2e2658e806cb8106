# frozen_string_literal: true

# The same in the style of 2010: every query has a callback. The queries of one request run at once.
class WorldCallbackController < Fastr::Controller
  JSON_TYPE = { "content-type" => "application/json" }.freeze
  HTML = { "content-type" => "text/html; charset=utf-8" }.freeze
  TEXT = { "content-type" => "text/plain" }.freeze

  def db
    defer_response(200, JSON_TYPE) do |response|
      World.find(World.number) { |world| finish(response, JSON.generate(world.answer)) }
    end
  end

  def queries
    defer_response(200, JSON_TYPE) do |response|
      worlds = []
      World.keys(WorldAwaitedController::QUERIES).each do |key|
        World.find(key) do |world|
          worlds << world.answer
          finish(response, JSON.generate(worlds)) if worlds.size == WorldAwaitedController::QUERIES
        end
      end
    end
  end

  def updates
    defer_response(200, JSON_TYPE) do |response|
      worlds = []
      World.keys(WorldAwaitedController::UPDATES).each do |key|
        World.find(key) do |world|
          world.update!({ randomnumber: World.number }) do
            worlds << world.answer
            finish(response, JSON.generate(worlds)) if worlds.size == WorldAwaitedController::UPDATES
          end
        end
      end
    end
  end

  def fortunes
    defer_response(200, HTML) do |response|
      Fortune.pluck(:id, :message) { |rows| finish(response, Fortune.document(rows)) }
    end
  end

  def slowdb
    defer_response(200, TEXT) do |response|
      World.query("SELECT pg_sleep(0.1)") { finish(response, "slept") }
    end
  end

  private

  def finish(response, body)
    response.send_data(body)
    response.succeed
  end
end
