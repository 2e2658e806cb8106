# frozen_string_literal: true

RSpec.describe Fastr::Filter do
  def define(parent = Fastr::Controller, &body)
    stub_const("FilteredController", Class.new(parent))
    FilteredController.class_eval(&body)
    client_of { router.for("/:controller/:action") }
  end

  it "runs before filters in order, only for the actions named" do
    client = define do
      before_filter :one, :two, only: %i[a]
      before_filter :three, except: :a
      def a = @ran.inspect
      def b = @ran.inspect

      private

      def one = (@ran = [1]) && filter_continue
      def two = (@ran << 2) && filter_continue
      def three = (@ran = [3]) && filter_continue
    end
    expect([client.get("/filtered/a").body, client.get("/filtered/b").body]).to eq(["[1, 2]", "[3]"])
  end

  it "ends the chain with the first Rack response; later filters do not run" do
    client = define do
      before_filter :halt, :continue
      def a = "ran"

      private

      def halt = [403, {}, ["halted"]]
      def continue = raise("never")
    end
    response = client.get("/filtered/a")
    expect([response.status, response.body]).to eq([403, "halted"])
  end

  it "ends the chain with filter_stop of anything an action may return, or by rendering" do
    client = define do
      before_filter(only: :a) { filter_stop("stopped") }
      before_filter(only: :b) { render(text: "rendered", status: 401) and nil }
      def a = "ran"
      def b = "ran"
    end
    expect([client.get("/filtered/a").body, client.get("/filtered/b").status]).to eq(["stopped", 401])
  end

  it "goes on when a filter only returns some value" do
    client = define do
      before_filter(:load)
      def a = @user

      private

      def load = @user = "ann"
    end
    expect(client.get("/filtered/a").body).to eq("ann")
  end

  it "gives after filters the response as a triple they may change" do
    client = define do
      after_filter :stamp
      def a = "text"

      private

      def stamp(response)
        code, headers, body = *response
        headers["X-Stamp"] = "yes"
        [code + 1, headers, body + ["!"]]
      end
    end
    response = client.get("/filtered/a")
    expect([response.status, response["X-Stamp"], response.body]).to eq([201, "yes", "text!"])
  end

  it "runs after filters on the answer of a halting filter as well" do
    client = define do
      before_filter { [403, {}, ["no"]] }
      after_filter { |response| response[1]["X-After"] = "1" and response }
      def a = "ran"
    end
    expect(client.get("/filtered/a")["X-After"]).to eq("1")
  end

  it "inherits filters, and takes them back with skip_filter" do
    parent = Class.new(Fastr::Controller) do
      before_filter :guard

      private

      def guard = [401, {}, ["guarded"]]
    end
    client = define(parent) do
      skip_filter :guard, only: :open
      def open = "open"
      def shut = "shut"
    end
    expect([client.get("/filtered/open").body, client.get("/filtered/shut").body]).to eq(%w[open guarded])
  end

  it "refuses options it does not know" do
    expect { define { before_filter :a, onyl: :b } }.to raise_error(ArgumentError, /not :onyl/)
  end
end
