# frozen_string_literal: true

require "erb"

# @!attribute message [String]
class Fortune < AsyncRecord::Base
  self.table_name = "fortune"
  PAGE = ERB.new("<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table>" \
                 "<tr><th>id</th><th>message</th></tr><% rows.each do |id, message| %>" \
                 "<tr><td><%= id %></td><td><%= ERB::Util.html_escape(message) %></td></tr><% end %>" \
                 "</table></body></html>")
  PAGE.def_method(singleton_class, "page(rows)")

  # The page of rows that hold id and message.
  def self.document(rows)
    rows << [0, "Additional fortune added at request time."]
    page(rows.sort_by(&:last))
  end
end
