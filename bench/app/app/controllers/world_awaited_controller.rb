# frozen_string_literal: true

# The usual database workloads as straight-line code that waits.
class WorldAwaitedController < Fastr::Controller
  QUERIES = 20
  UPDATES = 5

  def db
    render(:json, World.find(World.number).answer)
  end

  # One after the other, as most programs do.
  def queries
    render(:json, World.keys(QUERIES).map { |key| World.find(key).answer })
  end

  def updates
    worlds = World.keys(UPDATES).map { |key| World.find(key) }
    worlds.each { |world| world.update!(randomnumber: World.number) }
    render(:json, worlds.map(&:answer))
  end

  def fortunes
    render(:html, Fortune.document(Fortune.pluck(:id, :message)))
  end

  def slowdb
    World.query("SELECT pg_sleep(0.1)")
    render(:text, "slept")
  end
end
