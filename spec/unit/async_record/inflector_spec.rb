# frozen_string_literal: true

RSpec.describe "AsyncRecord::Inflector" do
  let(:inflector) { AsyncRecord.const_get(:Inflector) }

  {
    "User" => "users", "Widgets" => "widgets", "Category" => "categories", "Box" => "boxes", "Person" => "people",
    "BlogPost" => "blog_posts", "Blog::Post" => "posts", "HTTPRequest" => "http_requests", "Bus" => "buses",
    "Status" => "statuses", "Analysis" => "analyses", "Day" => "days", "Addresses" => "addresses", "News" => "news",
    "Address" => "addresses", "Categories" => "categories"
  }.each do |class_name, table|
    it "names the table of #{class_name} #{table}" do
      expect(inflector.table_name(class_name)).to eq(table)
    end
  end

  { "posts" => "post", "categories" => "category", "people" => "person", "boxes" => "box", "address" => "address" }
    .each do |plural, singular|
    it "finds #{singular} in #{plural}" do
      expect(inflector.singularize(plural)).to eq(singular)
    end
  end
end
