# frozen_string_literal: true

RSpec.describe "JSON columns" do
  each_database do
    before do
      database.query("create table notes (id #{column(:id)}, meta #{column(:json)}, plain #{column(:text)})")
      model("Note", database)
      Note.create!(id: 1, meta: { "a" => [1, nil, "ü"] }, plain: "[1]")
      Note.create!(id: 2, meta: nil, plain: nil)
    end

    let(:document) { { "a" => [1, nil, "ü"] } }

    it "are documents when read, by records and by pluck" do
      expect([Note.find(1).meta, Note.order(:id).pluck(:meta),
              Note.find(1).plain]).to eq([document, [document, nil], "[1]"])
    end

    it "are documents inside JSON, and text that looks like one stays text" do
      expected = [{ "id" => 1, "meta" => document, "plain" => "[1]" }, { "id" => 2, "meta" => nil, "plain" => nil }]
      expect(JSON.parse(Note.order(:id).to_json_bytes)).to eq(expected)
      expect(JSON.parse(Note.order(:id).to_json_bytes(only: %i[id meta]))).to eq(expected.map do |row|
                                                                                   row.except("plain")
                                                                                 end)
      expect(called_back do |done|
               Note.order(:id).to_json_bytes do |json|
                 done.call(JSON.parse(json))
               end
             end).to eq(expected)
    end
  end
end
